package dev.idem.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Files that hold what came in messages: only their owner may read them, and nothing that is there is overwritten. */
public final class PrivateFile {
    private PrivateFile() {}

    /** Writes a new file with mode 0600, where the file system has modes. */
    public static void write(Path file, byte[] content) throws IOException {
        Path directory = file.toAbsolutePath().getParent();
        boolean posix = directory != null
                && Files.isDirectory(directory)
                && Files.getFileStore(directory).supportsFileAttributeView("posix");
        FileAttribute<?>[] mode = posix
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[0];
        try (SeekableByteChannel channel =
                Files.newByteChannel(file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), mode)) {
            ByteBuffer left = ByteBuffer.wrap(content);
            while (left.hasRemaining()) {
                channel.write(left);
            }
        } catch (FileAlreadyExistsException there) {
            throw new CliException(
                    "The file " + file + " is there already, and is not overwritten", "Choose another name", there);
        }
    }
}
