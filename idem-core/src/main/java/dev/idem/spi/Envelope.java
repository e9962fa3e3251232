package dev.idem.spi;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.Position;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Everything of a message but its payload, as bytes, and back; byte for byte, repeated headers and absent fields
 * included. The first byte is the version of the form.
 */
public final class Envelope {
    private static final int VERSION = 1;
    private static final int ABSENT = -1;
    private static final int UTF_16 = -2;

    private Envelope() {}

    public static byte[] of(Message message) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(128);
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            text(out, message.id().orElse(null));
            text(out, message.source().orElse(null));
            text(out, message.type().orElse(null));
            text(out, message.version().orElse(null));
            text(out, message.orderingKey().orElse(null));
            text(out, message.contentType().orElse(null));
            text(out, message.replaySession().orElse(null));
            Instant time = message.eventTime().orElse(null);
            out.writeBoolean(time != null);
            if (time != null) {
                out.writeLong(time.getEpochSecond());
                out.writeInt(time.getNano());
            }
            Position position = message.position().orElse(null);
            out.writeBoolean(position != null);
            if (position != null) {
                text(out, position.stream());
                out.writeInt(position.partition());
                out.writeLong(position.offset());
            }
            out.writeInt(message.headers().size());
            for (Header header : message.headers()) {
                text(out, header.name());
                bytes(out, header.value());
            }
            MarkerKey marked = message.markedAs().orElse(null);
            if (marked != null) { // else there is nothing behind the headers
                text(out, marked.consumer());
                text(out, marked.value().toString());
                text(out, marked.readable());
            }
        } catch (IOException impossible) {
            throw new IllegalStateException("memory cannot be written", impossible);
        }
        return bytes.toByteArray();
    }

    /**
     * The message again.
     *
     * @throws IllegalArgumentException when these are not the bytes of a message
     */
    public static Message message(byte[] envelope, byte[] payload) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(envelope))) {
            int version = in.readByte();
            if (version != VERSION) {
                throw new IllegalArgumentException("A stored message has form " + version + ", known is " + VERSION
                        + ": it was stored by a later release");
            }
            Message.Builder message = Message.builder()
                    .id(text(in))
                    .source(text(in))
                    .type(text(in))
                    .version(text(in))
                    .orderingKey(text(in))
                    .contentType(text(in))
                    .replaySession(text(in));
            if (in.readBoolean()) {
                message.eventTime(Instant.ofEpochSecond(in.readLong(), in.readInt()));
            }
            if (in.readBoolean()) {
                message.position(new Position(required(in), in.readInt(), in.readLong()));
            }
            int headers = in.readInt();
            for (int i = 0; i < headers; i++) {
                message.header(required(in), exactly(in, in.readInt()));
            }
            if (in.available() > 0) {
                message.markedAs(new MarkerKey(required(in), UUID.fromString(required(in)), text(in)));
            }
            return message.payload(payload).build();
        } catch (IOException cut) {
            throw new IllegalArgumentException("A stored message is cut short", cut);
        }
    }

    private static void text(DataOutputStream out, @Nullable String text) throws IOException {
        if (text == null) {
            out.writeInt(ABSENT);
            return;
        }
        byte[] utf8 = text.getBytes(UTF_8);
        if (new String(utf8, UTF_8).equals(text)) {
            bytes(out, utf8);
        } else { // a lone surrogate, which UTF-8 would turn into a question mark
            out.writeInt(UTF_16);
            out.writeInt(text.length() * 2);
            out.writeChars(text);
        }
    }

    private static void bytes(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static @Nullable String text(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length == ABSENT) {
            return null;
        }
        return length == UTF_16 ? utf16(exactly(in, in.readInt())) : new String(exactly(in, length), UTF_8);
    }

    /** Character by character: the platform's decoder would replace what the encoder has kept. */
    private static String utf16(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length / 2);
        for (int i = 0; i + 1 < bytes.length; i += 2) {
            text.append((char) (((bytes[i] & 0xFF) << 8) | (bytes[i + 1] & 0xFF)));
        }
        return text.toString();
    }

    private static byte[] exactly(DataInputStream in, int length) throws IOException {
        if (length < 0 || length > in.available()) {
            throw new EOFException("too few bytes");
        }
        return in.readNBytes(length);
    }

    private static String required(DataInputStream in) throws IOException {
        String text = text(in);
        if (text == null) {
            throw new IllegalArgumentException("A stored message lacks a name");
        }
        return text;
    }
}
