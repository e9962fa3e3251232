package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.jdbc.schema.Database;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Known mistakes, planted one by one. Each scene must report damage with the mistake and none without it: a check that
 * has never failed proves nothing.
 */
class KnownDefectsTest {
    private static final List<String> TABLE = new ArrayList<>();

    private interface Scene {
        DefectReport play(Db db, boolean planted) throws Exception;
    }

    private record Defect(String name, String pitfall, Database database, Scene scene) {
        @Override
        public String toString() {
            return pitfall + " " + name;
        }
    }

    static Stream<Defect> museum() {
        return Stream.of(
                new Defect("look, then act", "PC-01", Database.H2, DefectNaive::lookThenAct),
                new Defect("marker after the effect", "PC-02", Database.H2, DefectNaive::markerAfterEffect),
                new Defect("marker before the effect", "PC-02", Database.H2, DefectNaive::markerBeforeEffect),
                new Defect(
                        "busy taken for duplicate", "PC-03", Database.POSTGRESQL, DefectScenes::busyTakenForDuplicate),
                new Defect("cache filled before commit", "PC-06", Database.H2, DefectScenes::cacheFilledBeforeCommit),
                new Defect(
                        "swallowed error, no confirm", "PC-07", Database.POSTGRESQL, DefectSqlScenes::swallowedError),
                new Defect(
                        "replaced transaction, no guard",
                        "PC-08",
                        Database.MARIADB,
                        DefectSqlScenes::replacedTransaction),
                new Defect("handler commits", "PC-09", Database.POSTGRESQL, DefectScenes::handlerCommits),
                new Defect("acknowledged before commit", "PC-11", Database.H2, DefectNaive::acknowledgedBeforeCommit),
                new Defect(
                        "fingerprint skipped after a wait",
                        "PC-14",
                        Database.POSTGRESQL,
                        DefectSqlScenes::fingerprintSkippedAfterAWait),
                new Defect(
                        "consumer missing from the key", "PC-16", Database.H2, DefectScenes::consumerMissingFromTheKey),
                new Defect("connection not revoked", "PC-24", Database.H2, DefectScenes::strayThread),
                new Defect("lock_timeout leaks", "PG-01", Database.POSTGRESQL, DefectSqlScenes::lockTimeoutLeaks),
                new Defect(
                        "any 23xxx is a duplicate",
                        "PG-06",
                        Database.POSTGRESQL,
                        DefectNaive::anyViolationIsADuplicate),
                new Defect(
                        "ON CONFLICT without target", "PG-07", Database.POSTGRESQL, DefectNaive::conflictWithoutTarget),
                new Defect("confirm by xmin", "PC-07", Database.POSTGRESQL, DefectSqlScenes::confirmByXmin),
                new Defect(
                        "unknown commit taken for success",
                        "PG-15",
                        Database.POSTGRESQL,
                        DefectScenes::unknownCommitTakenForSuccess),
                new Defect("unknown commit run again", "PG-15", Database.MARIADB, DefectNaive::lostAnswerRunAgain),
                new Defect("unknown commit looked up", "PG-15", Database.POSTGRESQL, DefectNaive::lostAnswerLookedUp),
                new Defect("consumers are counted", "PG-18", Database.POSTGRESQL, DefectSqlScenes::consumersCounted),
                new Defect("consumers are counted", "PG-18", Database.MARIADB, DefectSqlScenes::consumersCounted),
                new Defect("collation merges keys", "MY-01", Database.MARIADB, DefectNaive::collationMergesKeys),
                new Defect("INSERT IGNORE truncates", "MY-03", Database.MARIADB, DefectNaive::ignoreTruncates),
                new Defect(
                        "update count taken for new", "MY-04", Database.MARIADB, DefectNaive::updateCountTakenForNew),
                new Defect(
                        "retry in the undone transaction",
                        "MY-06",
                        Database.MARIADB,
                        DefectNaive::retryInTheUndoneTransaction),
                new Defect(
                        "marker of a failed message stays",
                        "PG-10",
                        Database.MARIADB,
                        DefectBatches::givenUpMarkerStays),
                new Defect("work of a failed message stays", "PG-10", Database.H2, DefectBatches::failedUnitStays),
                new Defect(
                        "swallowed error in a batch",
                        "PC-07",
                        Database.POSTGRESQL,
                        DefectBatches::swallowedErrorUnnoticed),
                new Defect(
                        "markers not looked for",
                        "PC-10",
                        Database.POSTGRESQL,
                        DefectBatches::committedMarkersNotLookedFor),
                new Defect("ordering key forgotten", "RO-07", Database.H2, DefectBatches::orderingKeyForgotten),
                new Defect("connection closed twice", "LV-15", Database.MARIADB, DefectBatches::closedTwice),
                new Defect("connection closed twice", "LV-15", Database.POSTGRESQL, DefectBatches::closedTwice),
                new Defect(
                        "back to a savepoint that is gone",
                        "MY-06",
                        Database.MARIADB,
                        DefectBatches::backToASavepointThatIsGone),
                new Defect("keys not sorted", "PG-12", Database.POSTGRESQL, DefectBatches::keysNotSorted),
                new Defect(
                        "lost answer taken for a refusal",
                        "PG-15",
                        Database.POSTGRESQL,
                        DefectBlame::lostAnswerTakenForARefusal),
                new Defect(
                        "full disk counts as an attempt",
                        "RO-02",
                        Database.POSTGRESQL,
                        DefectBlame::fullDiskCountsAsAttempt),
                new Defect(
                        "guilty of its lost connections, for ever innocent",
                        "PG-20",
                        Database.POSTGRESQL,
                        DefectBlame::guiltyForEverInnocent),
                new Defect("owner commits a failure", "HX-08", Database.POSTGRESQL, DefectJoined::ownerCommitsAFailure),
                new Defect("owner commits a failure", "HX-08", Database.MARIADB, DefectJoined::ownerCommitsAFailure),
                new Defect(
                        "open transaction unnoticed",
                        "HX-08",
                        Database.POSTGRESQL,
                        DefectJoined::openTransactionUnnoticed),
                new Defect("joined beside another", "HX-08", Database.POSTGRESQL, DefectJoined::joinedBesideAnother),
                new Defect("half done steps overlooked", "LS-05", Database.H2, DefectSteps::halfDoneOverlooked),
                new Defect("intent over another's", "RP-03", Database.POSTGRESQL, DefectSteps::intentOverAnothers),
                new Defect("session bound by the clock", "LS-09", Database.H2, DefectSteps::sessionBoundByTheClock),
                new Defect("receivers take no turns", "RO-07", Database.POSTGRESQL, DefectQueue::receiversTakeNoTurns),
                new Defect(
                        "publishers take no turns", "RO-07", Database.POSTGRESQL, DefectQueue::publishersTakeNoTurns),
                new Defect("receivers take no turns", "RO-07", Database.MARIADB, DefectQueue::receiversTakeNoTurns),
                new Defect("publishers take no turns", "RO-07", Database.MARIADB, DefectQueue::publishersTakeNoTurns),
                new Defect("due now by the clock", "LS-09", Database.H2, DefectQueue::dueNowByTheClock),
                new Defect("window from the receipt", "RP-06", Database.H2, DefectQueue::windowFromTheReceipt),
                new Defect("errors are not counted", "RO-06", Database.H2, DefectQueue::errorsNotCounted));
    }

    @Test
    void hasManyExhibits() {
        assertThat(museum().map(Defect::name).distinct().count()).isGreaterThanOrEqualTo(12);
    }

    @ParameterizedTest
    @MethodSource("museum")
    void isCaughtWhenPlantedAndAbsentOtherwise(Defect defect) throws Exception {
        DefectReport sound = play(defect, false);
        DefectReport planted = play(defect, true);
        DefectSql.checkPlanted();
        TABLE.add("%-6s %-34s %-11s sound: %-30s planted: %s"
                .formatted(defect.pitfall(), defect.name(), defect.database(), sound, planted));
        assertThat(sound).as("without the defect").isEqualTo(DefectReport.FLAWLESS);
        assertThat(planted).as("with the defect").isNotEqualTo(DefectReport.FLAWLESS);
    }

    private static DefectReport play(Defect defect, boolean planted) throws Exception {
        try (Db db = Db.fresh(defect.database())) {
            return defect.scene().play(db, planted);
        }
    }

    @AfterAll
    static void print() {
        System.out.println("planted defects: " + TABLE.size());
        TABLE.forEach(System.out::println);
    }
}
