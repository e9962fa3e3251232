package dev.idem.torture;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.Map;

/** The end of a campaign, as it is printed; as a record it goes into JSON. */
interface Report {
    @JsonIgnore
    boolean isFlawless();

    /** What is printed, by label. */
    Map<String, Long> rows();

    /** What is proven if it is flawless. */
    String promise();

    /** The command that does the same again. */
    String repeat();
}
