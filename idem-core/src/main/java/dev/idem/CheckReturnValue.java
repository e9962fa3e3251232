package dev.idem;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Whoever calls this must look at the answer: an outcome that nobody obeys is a message that is lost or comes for ever.
 * Error Prone refuses that by the name of this annotation, wherever it comes from, so it is our own: the core needs no library
 * for it. Where an answer is really of no interest, say so: {@code var ignored = …}.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface CheckReturnValue {}
