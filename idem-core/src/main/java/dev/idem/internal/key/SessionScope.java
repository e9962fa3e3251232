package dev.idem.internal.key;

import dev.idem.Position;

/** Names of streams that belong to one replay session, so that it judges them apart from ordinary traffic. */
public final class SessionScope {
    private static final String SCOPE = "idem-replay/";

    private SessionScope() {}

    /** The same position in a stream of the session's own. */
    public static Position scoped(Position place, String session) {
        return new Position(scoped(place.stream(), session), place.partition(), place.offset());
    }

    /** The name of a stream of the session's own. */
    public static String scoped(String stream, String session) {
        return SCOPE + session + "/" + stream;
    }

    public static boolean isScoped(String stream) {
        return stream.startsWith(SCOPE);
    }

    /** The name of the stream that this one is for. */
    public static String unscoped(String stream) {
        int end = stream.startsWith(SCOPE) ? stream.indexOf('/', SCOPE.length()) : -1;
        return end < 0 ? stream : stream.substring(end + 1);
    }
}
