/** Payloads and results as JSON, with Jackson 3. */
module dev.idem.jackson {
    requires transitive dev.idem.core;
    requires static org.jspecify;
    requires transitive tools.jackson.databind;

    exports dev.idem.jackson;

    provides dev.idem.broker.EventFormats with
            dev.idem.jackson.JacksonFormats;
}
