package dev.idem.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.instanceOf;

import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** The contract can fail: each planted defect is caught by the test that is there for it. */
class PlantedDefectsTest {
    static Stream<Arguments> defects() {
        return Stream.of(
                Arguments.of(PlantedStores.MarkerAfterEffect.class, "oneOfManyConcurrentDeliveriesRuns"),
                Arguments.of(PlantedStores.MarkerAfterEffect.class, "nothingIsTakenBeforeTheCommit"),
                Arguments.of(PlantedStores.BusyIsDuplicate.class, "busyFollowerIsNotAcknowledgedAndRunsLater"),
                Arguments.of(PlantedStores.DuplicateWithoutReading.class, "takenMarkerIsTheOneThatWasWritten"),
                Arguments.of(PlantedStores.DuplicateWithoutReading.class, "otherPayloadIsAConflict"),
                Arguments.of(PlantedStores.CaseInsensitiveKeys.class, "lookAlikeIdsAreDifferentMessages"),
                Arguments.of(PlantedStores.PaddedKeys.class, "lookAlikeIdsAreDifferentMessages"),
                Arguments.of(PlantedStores.TruncatedKeys.class, "longIdsAreNotTruncated"),
                Arguments.of(PlantedStores.SharedKeySpace.class, "twoConsumersOfOneMessageBothRun"),
                Arguments.of(PlantedStores.FingerprintForgotten.class, "otherPayloadIsAConflict"),
                Arguments.of(PlantedStores.FingerprintForgotten.class, "waitingTwinWithOtherPayloadIsAConflict"),
                Arguments.of(PlantedStores.CacheBeforeCommit.class, "nothingIsTakenBeforeTheCommit"),
                Arguments.of(PlantedStores.CacheBeforeCommit.class, "anyThrowableLeavesNothing"),
                Arguments.of(PlantedStores.RollbackCommits.class, "anyThrowableLeavesNothing"),
                Arguments.of(PlantedStores.NoExclusion.class, "keyInsideItselfThroughAnotherInboxIsBusy"),
                Arguments.of(PlantedStores.NoExclusion.class, "busyFollowerIsNotAcknowledgedAndRunsLater"),
                Arguments.of(PlantedStores.LocalTime.class, "markerTimeDoesNotDependOnTheTimeZone"),
                Arguments.of(PlantedStores.ResultCut.class, "storedResultAnswersDuplicates"),
                Arguments.of(PlantedStores.AbandonIgnored.class, "abandonedUnitCannotCommit"),
                Arguments.of(PlantedStores.ClosesWhatIsNotItsOwn.class, "closingAgainDoesNothing"),
                Arguments.of(PlantedStores.KeyLeak.class, "doneKeysAreForgotten"));
    }

    @ParameterizedTest
    @MethodSource("defects")
    void isCaught(Class<?> defect, String byTest) {
        Events failed = run(defect, byTest).failed();
        assertThat(failed.count())
                .as("failures of %s on %s", byTest, defect.getSimpleName())
                .isEqualTo(1);
        // An assertion, not an accident such as a deadlock of the planted store.
        failed.assertThatEvents().haveExactly(1, finishedWithFailure(instanceOf(AssertionError.class)));
    }

    @ParameterizedTest
    @MethodSource("defects")
    void isNotSeenInTheSoundStore(Class<?> defect, String byTest) {
        assertThat(run(MemoryStoreContractTest.class, byTest).succeeded().count())
                .isEqualTo(1);
    }

    private static Events run(Class<?> contract, String test) {
        return EngineTestKit.engine("junit-jupiter")
                .selectors(selectMethod(contract, test))
                .execute()
                .testEvents();
    }
}
