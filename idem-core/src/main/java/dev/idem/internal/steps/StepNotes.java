package dev.idem.internal.steps;

import dev.idem.ResultCodec;
import dev.idem.internal.text.Text;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StepRecord;
import dev.idem.steps.StepMismatchException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Compares what a handler asks for with what is stored of its message. A step belongs to its name and to its place in the
 * order: where either is taken by another one, the handler was changed since, and what was done for one step must not be
 * taken for another. Used by one thread.
 */
final class StepNotes {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}");

    /** What becomes of effects that the ledger does not have, and of those that only the ledger has. */
    enum Mode {
        ORDINARY,
        /** In a session, which makes effects: the handler asks for all that were made. */
        REBUILDING,
        /** In a session that makes none, so none can be made twice. */
        SUPPRESSING
    }

    private final MarkerKey key;
    private final Mode mode;
    private final Map<String, StepRecord> byName = new LinkedHashMap<>();
    private final Map<Integer, StepRecord> byPosition = new HashMap<>();
    private final Set<String> asked = new HashSet<>();
    private int next;

    StepNotes(MarkerKey key, List<StepRecord> stored, Mode mode) {
        this.key = key;
        this.mode = mode;
        for (StepRecord step : stored) {
            byName.put(step.name(), step);
            if (step.isOpen()) {
                byPosition.put(step.position(), step);
            }
        }
    }

    /** What is asked for, and what is stored of it. A step that fails keeps its place. */
    record Asked(String name, int position, @Nullable StepRecord found) {}

    Asked ask(String name, StepRecord.Kind kind) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("The name of a step, '" + Text.printable(name)
                    + "', must be 1 to 100 letters, digits or . _ : / - and start with a letter or digit");
        }
        int position = next++;
        String what = word(kind) + " " + name + " as number " + (position + 1);
        if (!asked.add(name)) {
            throw new StepMismatchException(key + ": the handler asks for " + what
                    + ", but has asked for that name before; give each step a name of its own");
        }
        StepRecord there = byPosition.get(position);
        StepRecord same = byName.get(name);
        if (there != null && !there.name().equals(name)) {
            throw changed(what, word(there.kind()) + " " + there.name() + " is stored in that place");
        }
        if (same != null && same.isOpen() && same.position() != position) {
            throw changed(what, "it is stored as number " + (same.position() + 1));
        }
        if (same != null && same.kind() != kind) {
            throw changed(what, "a " + word(same.kind()) + " is stored under that name");
        }
        if (same == null && kind == StepRecord.Kind.EFFECT && mode != Mode.SUPPRESSING) {
            refuseRenamed(what);
        }
        return new Asked(name, position, same);
    }

    /**
     * What was made for an earlier delivery has no place in this one. Whatever is new comes after it: else an effect that was
     * renamed would be made a second time, under another key.
     */
    private void refuseRenamed(String what) {
        for (StepRecord made : ofLedgerAlone()) {
            throw changed(
                    "the new " + what,
                    "effect " + made.name()
                            + " is in the ledger of an earlier delivery and was not asked for before it");
        }
    }

    private List<StepRecord> ofLedgerAlone() {
        return byName.values().stream()
                .filter(made -> made.kind() == StepRecord.Kind.EFFECT && !made.isOpen())
                .filter(made -> !asked.contains(made.name()))
                .toList();
    }

    /** When the handler has returned: whatever is stored was asked for. */
    void finish() {
        for (StepRecord step : byPosition.values()) {
            if (!asked.contains(step.name())) {
                throw changed(
                        "no more",
                        word(step.kind()) + " " + step.name() + " is stored as number " + (step.position() + 1));
            }
        }
        if (mode == Mode.REBUILDING) {
            for (StepRecord made : ofLedgerAlone()) {
                throw changed("no more", "effect " + made.name() + " is in the ledger of an earlier delivery");
            }
        }
    }

    /** The stored result, if the caller wants one. */
    <T extends @Nullable Object> @Nullable T result(StepRecord step, @Nullable ResultCodec<T> codec) {
        if (codec == null) {
            return null;
        }
        if (step.result() == null) {
            if (step.kind() == StepRecord.Kind.EFFECT && step.codec() == null) {
                throw changed("effect " + step.name() + " with codec " + codec.name(), "it was made without a result");
            }
            return null; // which is what it answered
        }
        if (!step.result().codec().equals(codec.name())) {
            throw changed(
                    word(step.kind()) + " " + step.name() + " with codec " + codec.name(),
                    "its result was stored by codec " + step.result().codec());
        }
        try {
            return codec.decode(step.result().bytes());
        } catch (Exception unreadable) { // its text may quote the result, so only its type is told
            throw changed(
                    word(step.kind()) + " " + step.name(),
                    "its stored result cannot be decoded: "
                            + unreadable.getClass().getName());
        }
    }

    private StepMismatchException changed(String asked, String stored) {
        return new StepMismatchException(key + ": the handler asks for " + asked + ", but " + stored
                + "; its steps were changed while this message was half done");
    }

    private static String word(StepRecord.Kind kind) {
        return kind == StepRecord.Kind.STEP ? "step" : "effect";
    }
}
