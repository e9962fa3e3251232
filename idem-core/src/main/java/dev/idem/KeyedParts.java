package dev.idem;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** Keys of which nobody without a secret can tell what they were made of, not even by trying. Stateless. */
final class KeyedParts {
    private KeyedParts() {}

    static KeySelector of(KeySelector base, byte[] secret) {
        SecretKeySpec key = Fingerprint.checked(secret);
        return message -> keyed(base.select(message), key);
    }

    private static Selection keyed(Selection selection, SecretKeySpec key) {
        if (!(selection instanceof Selection.Parts parts)) {
            return selection;
        }
        // Lengths stand before all parts, so that no part can be moved into its neighbour.
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        write(all, parts.tenant());
        write(all, parts.source());
        parts.ids().forEach(id -> write(all, id));
        String text = HexFormat.of().formatHex(Fingerprint.hmac(key, all.toByteArray()));
        return new Selection.Parts(null, null, List.of(text), parts.eventTime());
    }

    private static void write(ByteArrayOutputStream all, @Nullable String part) {
        byte[] bytes = part == null ? new byte[0] : part.getBytes(StandardCharsets.UTF_8);
        int length = part == null ? -1 : bytes.length;
        all.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(length).array());
        all.writeBytes(bytes);
    }
}
