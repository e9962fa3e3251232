package dev.idem.broker.spi;

import dev.idem.Header;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.broker.DeadLetter;
import dev.idem.spi.MarkerStore;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Predicate;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Tells headers that Idem wrote from those that a producer forged, in places where both write: a queue to which postponed
 * copies come back. Our headers and the payload are signed with a secret that the store keeps, so all processes of one store
 * believe each other. A store without a secret gets one that ends with the process. Immutable and thread-safe.
 */
public final class Seal {
    static final String NAME = DeadLetter.PREFIX + "seal";

    private static final String ALGORITHM = "HmacSHA256";
    private static final int SECRET_BYTES = 32;
    private static final byte[] OF_THIS_PROCESS = random();

    private final SecretKeySpec secret;

    private Seal(byte[] secret) {
        this.secret = new SecretKeySpec(secret, ALGORITHM);
    }

    /** The seal of everybody who shares the inbox's store. */
    public static Seal of(Inbox inbox) {
        if (inbox.store() instanceof MarkerStore.Secretive keeper) {
            return new Seal(keeper.secret());
        }
        return new Seal(OF_THIS_PROCESS);
    }

    private static byte[] random() {
        byte[] secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        return secret;
    }

    /**
     * These headers of ours and the seal over them.
     *
     * @param payload of the copy that will carry them
     */
    public List<Header> sealed(List<Header> ours, byte[] payload) {
        List<Header> all = new ArrayList<>(ours);
        all.add(new Header(NAME, HexFormat.of().formatHex(sign(ours, payload))));
        return all;
    }

    /** Our headers on a delivery, if the seal proves that we wrote them; else none. */
    public List<Header> open(Message raw) {
        return open(raw, name -> !name.equals(NAME));
    }

    /** Those of our headers that the seal was made over, where others of ours may stand beside them. */
    public List<Header> open(Message raw, Predicate<String> names) {
        String seal = raw.header(NAME).orElse(null);
        if (seal == null) {
            return List.of();
        }
        List<Header> ours = raw.headers().stream()
                .filter(header -> DeadLetter.isOurs(header.name()) && names.test(header.name()))
                .toList();
        byte[] expected = HexFormat.of().formatHex(sign(ours, raw.payload())).getBytes(StandardCharsets.US_ASCII);
        boolean genuine = MessageDigest.isEqual(expected, seal.getBytes(StandardCharsets.UTF_8));
        return genuine ? ours : List.of();
    }

    /** Lengths stand before all parts, so that no part can be moved into its neighbour; brokers may change the order. */
    private byte[] sign(List<Header> ours, byte[] payload) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            ours.stream()
                    .sorted(Comparator.comparing(Header::name).thenComparing(Header::text))
                    .forEach(header -> {
                        part(mac, header.name().getBytes(StandardCharsets.UTF_8));
                        part(mac, header.value());
                    });
            part(mac, payload);
            return mac.doFinal();
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("This Java has no " + ALGORITHM, impossible);
        }
    }

    private static void part(Mac mac, byte[] bytes) {
        mac.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).array());
        mac.update(bytes);
    }
}
