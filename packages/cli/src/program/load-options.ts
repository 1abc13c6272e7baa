import type { Engine, Method } from '@sluice/bench'
import { type Command, Option } from 'commander'
import { collect } from './building.js'

/** Written out, because the command tree loads nothing but itself. */
const ENGINES = ['autocannon', 'wrk', 'wrk2', 'oha', 'h2load'] as const satisfies readonly Engine['name'][]
const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
] as const satisfies readonly Method[]
export const MAX_CONNECTIONS = 100_000
export const MAX_SECONDS = 86_400

/** An option that names a load generator. */
export function engineOption(flags: string, description: string): Option {
  return new Option(flags, description).choices([...ENGINES])
}

/** What is asked of a URL. */
export function addCall(command: Command): void {
  command
    .addOption(
      new Option('-X, --method <name>', 'the method; default GET, with a body POST').choices([...METHODS]),
    )
    .option(
      '-H, --header <line>',
      "a header, such as 'accept: text/plain', or @ and a file with one a line; may be repeated",
      collect,
    )
    .option('--data <text>', 'a body, or @ and the file that holds it')
    .option('--body <size>', 'a body of this size, made of JSON, such as 5kb')
}
