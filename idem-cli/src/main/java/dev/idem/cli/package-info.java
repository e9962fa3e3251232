/**
 * The {@code idem} command: what all of its subcommands share. Each subcommand has a package of its own, and adds itself
 * in {@link dev.idem.cli.IdemCommand}.
 */
@NullMarked
package dev.idem.cli;

import org.jspecify.annotations.NullMarked;
