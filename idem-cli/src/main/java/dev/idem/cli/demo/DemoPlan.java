package dev.idem.cli.demo;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * What will happen, made from a seed: the same seed and numbers give the same payments, duplicates, delays and kills. At
 * which instruction a kill hits is up to the machine.
 */
record DemoPlan(List<Payment> payments, List<Publication> publications, List<Kill> kills) {
    private static final int LATE_PERCENT = 10;
    private static final int LATEST = 50;
    private static final int THIRD_COPY_PERCENT = 10;
    private static final int ACK_LOST_PERCENT = 2;
    private static final int FAILS_FIRST_PERCENT = 3;
    private static final CrashWindow[] WINDOWS = {CrashWindow.BEFORE_ACK, CrashWindow.AFTER_EFFECT, CrashWindow.NONE};

    static DemoPlan of(long seed, int messages, int duplicatePercent, int kills) {
        var random = new Random(seed);
        var payments = new ArrayList<Payment>();
        var publications = new ArrayList<Publication>();
        for (int i = 0; i < messages; i++) {
            Payment payment = payment(random, i);
            payments.add(payment);
            int position = i + (hits(random, LATE_PERCENT) ? 1 + random.nextInt(LATEST) : 0);
            publications.add(publication(random, publications.size(), payment, position, 0));
            if (hits(random, duplicatePercent)) {
                int copies = hits(random, THIRD_COPY_PERCENT) ? 2 : 1;
                for (int copy = 1; copy <= copies; copy++) {
                    int at = position + behind(random, messages);
                    publications.add(publication(random, publications.size(), payment, at, copy));
                }
            }
        }
        return new DemoPlan(List.copyOf(payments), List.copyOf(publications), kills(random, messages, kills));
    }

    /** The same, but some payments fail at first, and one always. */
    DemoPlan withTroubles(long seed) {
        var random = new Random(~seed);
        var troubles = new HashMap<Payment, Trouble>();
        for (Payment payment : payments) {
            troubles.put(payment, hits(random, FAILS_FIRST_PERCENT) ? Trouble.FAILS_FIRST : Trouble.NONE);
        }
        troubles.put(payments.get(random.nextInt(payments.size())), Trouble.DECLINED);
        List<Publication> troubled = publications.stream()
                .map(p -> p.with(troubles.getOrDefault(p.payment(), Trouble.NONE)))
                .toList();
        return new DemoPlan(payments, troubled, kills);
    }

    /** The payments that must not be made. */
    Set<Payment> declined() {
        return publications.stream()
                .filter(p -> p.trouble() == Trouble.DECLINED)
                .map(Publication::payment)
                .collect(Collectors.toSet());
    }

    private static Payment payment(Random random, int number) {
        long high = (random.nextLong() & ~0xF000L) | 0x4000L;
        long low = (random.nextLong() & 0x3FFF_FFFF_FFFF_FFFFL) | Long.MIN_VALUE;
        String order = String.format(Locale.ROOT, "order-%06d", number + 1);
        return new Payment(new UUID(high, low).toString(), order, 100 + random.nextInt(20_000));
    }

    private static Publication publication(Random random, int number, Payment payment, int position, int copy) {
        return new Publication(
                number, payment, position, copy, 1 + random.nextInt(6), hits(random, ACK_LOST_PERCENT), Trouble.NONE);
    }

    /** Half of the duplicates come with their original, so that both run at once; the others up to a quarter later. */
    private static int behind(Random random, int messages) {
        return random.nextBoolean() ? 0 : 1 + random.nextInt(Math.max(1, messages / 4));
    }

    /** Spread over the stream, one in each part of it, and not so late that nothing is left to be hit. */
    private static List<Kill> kills(Random random, int messages, int count) {
        var kills = new ArrayList<Kill>();
        long span = Math.max(count, messages * 9L / 10);
        for (int i = 0; i < count; i++) {
            int from = (int) (span * i / count);
            int to = (int) (span * (i + 1) / count);
            int after = from + random.nextInt(to - from);
            kills.add(new Kill(after, WINDOWS[i % WINDOWS.length], random.nextInt(30)));
        }
        return List.copyOf(kills);
    }

    private static boolean hits(Random random, int percent) {
        return random.nextInt(100) < percent;
    }
}
