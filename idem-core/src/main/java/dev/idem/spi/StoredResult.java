package dev.idem.spi;

/** A handler's result as bytes, with the name of the codec that wrote it. The array is not copied. */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody; a copy would only cost
public record StoredResult(String codec, byte[] bytes) {}
