"""What every signer must do: subclass, say how to make one and how to check it, inherit the tests."""

from collections.abc import Callable

from flopwitness.core.ports import Signer


class SignerContract:
    """Subclass and give ``make`` (a signer and its public key, new each time) and ``verify``."""

    def make(self) -> tuple[Signer, bytes]:
        """Return a signer with a key of its own, and its public key of 32 bytes."""
        raise NotImplementedError

    verify: Callable[[bytes, bytes, bytes], bool]

    def test_it_is_a_signer(self):
        """It offers what the port asks for."""
        assert isinstance(self.make()[0], Signer)

    def test_a_signature_is_one_of_its_message(self):
        """Sixty-four bytes that hold for the message and the key, also for an empty message."""
        signer, public_key = self.make()

        for message in (b"", b"message"):
            signature = signer.sign(message)

            assert len(signature) == 64
            assert type(self).verify(public_key, message, signature)

    def test_one_changed_bit_fails(self):
        """In the message, in the signature or in the key."""
        signer, public_key = self.make()
        signature = signer.sign(b"message")
        verify = type(self).verify

        for at in range(len(signature) * 8):
            assert not verify(public_key, b"message", flipped(signature, at))
        for at in range(len(b"message") * 8):
            assert not verify(public_key, flipped(b"message", at), signature)
        for at in range(len(public_key) * 8):
            assert not verify(flipped(public_key, at), b"message", signature)

    def test_another_key_fails(self):
        """What one signs another did not."""
        (signer, _), (_, other) = self.make(), self.make()

        assert not type(self).verify(other, b"message", signer.sign(b"message"))

    def test_what_is_no_key_or_signature_fails_quietly(self):
        """A verifier says no; it does not raise."""
        signer, public_key = self.make()

        assert not type(self).verify(public_key, b"message", b"")
        assert not type(self).verify(b"", b"message", signer.sign(b"message"))


def flipped(data: bytes, bit: int) -> bytes:
    """Return bytes with one bit changed."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)
