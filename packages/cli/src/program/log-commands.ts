import { Argument } from 'commander'
import { collect, type GwCommand, wholeNumber } from './gw-command.js'
import { addCluster, addFilters, addSource } from './log-options.js'

/** Maximum of `--last`, whose records are held in memory. */
const MAX_LAST = 100_000
/** Maximum of `--top`, within the number of groups that a cluster returns. */
const MAX_GROUPS = 1000
/** Groups of `gw logs stats`, a copy of the keys of `STATS_FIELDS`, because loading the logger takes time. */
const STATS_GROUPS = ['route', 'status', 'consumer', 'upstream', 'target', 'code', 'api', 'method', 'host']

/** Adds the commands that work with the traffic log. */
export function addLogCommands(program: GwCommand): void {
  program.commandsGroup('Traffic log:')
  const logs = program.subcommand('logs', 'read the traffic log, from files or Elasticsearch')
  addTail(logs)
  addDecrypt(logs)
  addSearch(logs)
  addShow(logs)
  addStats(logs)
  addReplay(logs)
  addSetup(program)
}

function addTail(logs: GwCommand): void {
  const tail = logs
    .subcommand('tail', 'print the latest requests and follow new ones')
    .with(addSource)
    .option('--last <n>', 'number of past requests to print first', wholeNumber(0, MAX_LAST), 10)
    .option('-f, --follow', 'keep printing new requests', true)
    .option('--no-follow', 'exit after the existing requests')
    .with(addFilters)
  printsRecords(
    tail,
    'tail',
    'gw logs tail --status 5xx --since 1h',
    'gw logs tail --no-follow --last 1000 --where up.name=orders -o jsonl',
    'gw logs tail -c gateway.yaml --route orders',
  )
}

function addDecrypt(logs: GwCommand): void {
  logs
    .subcommand('decrypt', 'decrypt the values in records that privacy rules encrypted')
    .argument('[file]', 'file with one record per line; default stdin')
    .option('--key-file <file>', 'key file; default GW_LOG_KEY; repeatable', collect)
    .runs(async () => (await import('../commands/logs-decrypt.js')).decrypt)
    .example(
      'gw logs decrypt --key-file key-2026-11 calls.ndjson',
      'gw logs tail --no-follow -o jsonl | gw logs decrypt --key-file key-2026-11',
    )
}

function addSearch(logs: GwCommand): void {
  const search = logs
    .subcommand('search', 'print matching requests, oldest first')
    .with(addSource)
    .option('--last <n>', 'number of newest matches to print', wholeNumber(1, MAX_LAST), 100)
    .option('--limit <n>', 'same as --last', wholeNumber(1, MAX_LAST))
    .option('--all', 'print all matches')
    .atMostOne('last', 'limit', 'all')
    .with(addFilters)
    .option('--until <time>', 'end of the time range, in the format of --since')
  printsRecords(
    search,
    'search',
    'gw logs search -c gateway.yaml --since 1h --status 5xx --route orders',
    "gw logs search --elasticsearch https://es.example.com:9200 --since 1d --until 12h --where 't.total>500' --all -o jsonl",
  )
}

function addShow(logs: GwCommand): void {
  logs
    .command('show')
    .description('show the record of one request: route, policies, upstream attempts, and time in each phase')
    .argument('<id>', "request id, the response's x-request-id")
    .with(addSource)
    .option('--since <time>', 'earliest time to search: 10m, 1h, or 2026-01-31T08:00:00Z')
    .output('table', 'json', 'jsonl')
    .runs(async () => (await import('../commands/logs-show.js')).showRecord)
    .example('gw logs show 01jd3k5h2m -c gateway.yaml --since 1h')
}

function addStats(logs: GwCommand): void {
  logs
    .subcommand('stats', 'show rates, errors and latency percentiles of matching requests, and a histogram')
    .with(addSource)
    .choice('--by <field>', 'field to group by', STATS_GROUPS, 'route')
    .option('--top <n>', 'number of groups to show, largest first', wholeNumber(1, MAX_GROUPS), 20)
    .with(addFilters)
    .option('--until <time>', 'end of the time range, in the format of --since')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/logs-stats.js')).logStats)
    .example(
      'gw logs stats -c gateway.yaml --since 1h',
      'gw logs stats -c gateway.yaml --since 1d --by consumer --status 5xx -o json',
    )
}

function addReplay(logs: GwCommand): void {
  logs
    .subcommand('replay-dead', 'retry the delivery of refused records (dead letters)')
    .option('-c, --config <file>', 'document with the log targets')
    .option('--target <id>', 'id of a log target in the document; main is the one of log.sink')
    .option('--dir <dir>', 'spool folder with dead letters')
    .with(addCluster)
    .option('--dry-run', 'show the dead letters without delivering them')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/logs-replay-dead.js')).replayDead)
    .example(
      'gw logs replay-dead -c gateway.yaml --dry-run',
      'gw logs replay-dead --dir data/spool --elasticsearch https://es.example.com:9200',
    )
}

function addSetup(program: GwCommand): void {
  program
    .command('log-setup')
    .description('create or update the index template, lifecycle and data stream in Elasticsearch')
    .addArgument(new Argument('[kind]', 'kind of log target').choices(['es', 'elasticsearch']))
    .option('-c, --config <file>', 'document with the cluster and data stream')
    .option('--target <id>', 'id of a log target in the document; main is the one of log.sink')
    .with(addCluster)
    .option('--retention <time>', 'delete records after this time, such as 30d; none: keep them')
    .option('--replicas <n>', 'replicas per shard; 0 for a single node', wholeNumber(0, 10))
    .option('--dry-run', 'show the requests without sending them')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/log-setup.js')).logSetup)
    .example(
      'gw log-setup -c gateway.yaml --dry-run',
      'gw log-setup es --elasticsearch https://es.example.com:9200 --retention 30d',
    )
}

/** Adds the output options and action of commands that print records. */
function printsRecords(command: GwCommand, name: 'tail' | 'search', ...examples: readonly string[]): void {
  command.output('table', 'jsonl').runs(async () => (await import('../commands/logs.js'))[name])
  command.example(...examples)
}
