import type { Command } from 'commander'
import { collect, runs, wholeNumber, withExample, withOutput } from './building.js'

/** Most records that `--last` holds in memory. */
const MAX_LAST = 100_000

/** Adds the commands that read the traffic log. */
export function addLogCommands(program: Command): void {
  program.commandsGroup('With the traffic log:')
  const logs = program.command('logs').description('the calls that the gateway served, from its log files')
  const tail = logs.command('tail').description('the newest calls, then those that come')
  tail
    .option('--dir <dir>', 'directory of the log files; default ./data/traffic')
    .option('-c, --config <file>', 'take the directory from this document')
    .option('--last <n>', 'calls to begin with', wholeNumber(0, MAX_LAST), 10)
    .option('-f, --follow', 'go on with the calls that come', true)
    .option('--no-follow', 'end with the calls that are there')
  addDecrypt(logs)
  addFilters(tail)
  withOutput(tail, 'table', 'jsonl').action(runs(async () => (await import('../commands/logs.js')).tail))
  withExample(
    tail,
    'gw logs tail --status 5xx --since 1h',
    'gw logs tail --no-follow --last 1000 --where up.name=orders -o jsonl',
  )
}

function addDecrypt(logs: Command): void {
  const decrypt = logs
    .command('decrypt')
    .description('records with the values that privacy rules have encrypted')
    .argument('[file]', 'records, one a line; default stdin')
    .option('--key-file <file>', 'a key, else that of GW_LOG_KEY; may be repeated', collect)
  decrypt.action(runs(async () => (await import('../commands/logs-decrypt.js')).decrypt))
  withExample(
    decrypt,
    'gw logs decrypt --key-file key-2026-11 calls.ndjson',
    'gw logs tail --no-follow -o jsonl | gw logs decrypt --key-file key-2026-11',
  )
}

/** The same for every command that picks calls. */
function addFilters(command: Command): void {
  command
    .option('--status <status>', '404, 5xx or 400-499')
    .option('--route <id>', 'the route')
    .option('--method <method>', 'the method')
    .option('--path <prefix>', 'the beginning of the path')
    .option('--host <host>', 'the host')
    .option('--client <address>', 'the address of the client')
    .option('--consumer <id>', 'id or name of the consumer')
    .option('--result <result>', 'success, blocked, error, aborted or shed')
    .option('--code <code>', 'the error code, such as GW_UPSTREAM_TIMEOUT')
    .option('--since <time>', '10m, 1h, or an instant such as 2026-01-31T08:00:00Z')
    .option('--where <field=value>', 'any field of the record; may be repeated', collect)
}
