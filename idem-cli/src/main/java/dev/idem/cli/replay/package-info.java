/** {@code idem replay}: sends messages to their consumers again, in named sessions. */
@NullMarked
package dev.idem.cli.replay;

import org.jspecify.annotations.NullMarked;
