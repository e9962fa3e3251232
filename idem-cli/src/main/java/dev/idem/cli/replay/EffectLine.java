package dev.idem.cli.replay;

import dev.idem.Policy;
import dev.idem.replay.EffectForecast;
import dev.idem.replay.ReplaySession;
import java.util.List;

/**
 * What a dry run says of one effect, for machines.
 *
 * @param unsettled found in the ledger without an answer, so that the effect's own policy decides; none where all are
 *     suppressed
 */
record EffectLine(String kind, String name, long answered, long unsettled, long suppressedAtMost, long madeAtMost) {

    static List<EffectLine> of(ReplaySession session) {
        boolean quiet = isQuiet(session);
        return session.effects().stream()
                .map(effect -> new EffectLine(
                        effect.kind().name(),
                        effect.name(),
                        effect.answered(),
                        quiet ? 0 : effect.unsettled(),
                        quiet ? effect.unsettled() + effect.atMost() : 0,
                        quiet ? 0 : effect.atMost()))
                .toList();
    }

    private static boolean isQuiet(ReplaySession session) {
        return session.policy().filter(Policy.Replay.SUPPRESS_EFFECTS::equals).isPresent();
    }

    /** The same for people. */
    static List<String> texts(ReplaySession session) {
        boolean quiet = isQuiet(session);
        return session.effects().stream().map(effect -> text(effect, quiet)).toList();
    }

    private static String text(EffectForecast effect, boolean quiet) {
        long rest = quiet ? effect.unsettled() + effect.atMost() : effect.atMost();
        if (effect.kind() == EffectForecast.Kind.PUBLICATION) {
            return "to " + effect.name() + ": publications of up to " + rest + " messages would be "
                    + (quiet ? "suppressed" : "sent");
        }
        String end = quiet ? " would be suppressed" : " would be made";
        String unknown = quiet || effect.unsettled() == 0
                ? ""
                : ", " + effect.unsettled() + " unknown there, so that its policy decides";
        return (effect.kind() == EffectForecast.Kind.OTHERS ? "any other" : effect.name()) + ": " + effect.answered()
                + " answered from the ledger" + unknown + ", "
                + (rest == 0
                        ? "none"
                        : effect.kind() == EffectForecast.Kind.OTHERS ? ofMessages(rest) : "up to " + rest)
                + end;
    }

    private static String ofMessages(long count) {
        return "those of up to " + count + " messages";
    }
}
