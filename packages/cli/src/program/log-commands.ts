import { Argument, type Command } from 'commander'
import { collect, runs, wholeNumber, withExample, withOutput } from './building.js'

/** Most records that `--last` holds in memory. */
const MAX_LAST = 100_000

/** Adds the commands that work with the traffic log. */
export function addLogCommands(program: Command): void {
  program.commandsGroup('With the traffic log:')
  const logs = program
    .command('logs')
    .description('the calls that the gateway served, from its log files or from Elasticsearch')
  addTail(logs)
  addDecrypt(logs)
  addSearch(logs)
  addReplay(logs)
  addSetup(program)
}

function addTail(logs: Command): void {
  const tail = logs
    .command('tail')
    .description('follow the traffic log: the newest calls, then those that come')
  addSource(tail)
  tail
    .option('--last <n>', 'calls to begin with', wholeNumber(0, MAX_LAST), 10)
    .option('-f, --follow', 'go on with the calls that come', true)
    .option('--no-follow', 'end with the calls that are there')
  addFilters(tail)
  printsCalls(
    tail,
    'tail',
    'gw logs tail --status 5xx --since 1h',
    'gw logs tail --no-follow --last 1000 --where up.name=orders -o jsonl',
    'gw logs tail -c gateway.yaml --route orders',
  )
}

function addDecrypt(logs: Command): void {
  const decrypt = logs
    .command('decrypt')
    .description('print records with the values that privacy rules have encrypted')
    .argument('[file]', 'records, one a line; default stdin')
    .option('--key-file <file>', 'a key, else that of GW_LOG_KEY; may be repeated', collect)
  decrypt.action(runs(async () => (await import('../commands/logs-decrypt.js')).decrypt))
  withExample(
    decrypt,
    'gw logs decrypt --key-file key-2026-11 calls.ndjson',
    'gw logs tail --no-follow -o jsonl | gw logs decrypt --key-file key-2026-11',
  )
}

function addSearch(logs: Command): void {
  const search = logs
    .command('search')
    .description('search the traffic log: the calls that fit, oldest first')
  addSource(search)
  search
    .option('--last <n>', 'the newest so many of them', wholeNumber(1, MAX_LAST), 100)
    .option('--limit <n>', 'the same as --last', wholeNumber(1, MAX_LAST))
    .option('--all', 'all of them')
  addFilters(search)
  search.option('--until <time>', 'as --since; calls that began then or later are left out')
  printsCalls(
    search,
    'search',
    'gw logs search -c gateway.yaml --since 1h --status 5xx --route orders',
    "gw logs search --elasticsearch https://es.example.com:9200 --since 1d --until 12h --where 't.total>500' --all -o jsonl",
  )
}

function addReplay(logs: Command): void {
  const replay = logs
    .command('replay-dead')
    .description('deliver the records again that a target had refused')
    .option('-c, --config <file>', 'take the targets and their spools from this document')
    .option('--target <id>', "which of the document's log targets; main is that of log.sink")
    .option('--dir <dir>', 'the spool directory whose dead letters are delivered')
  addCluster(replay)
  replay.option('--dry-run', 'only say what is there')
  withOutput(replay, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/logs-replay-dead.js')).replayDead),
  )
  withExample(
    replay,
    'gw logs replay-dead -c gateway.yaml --dry-run',
    'gw logs replay-dead --dir data/spool --elasticsearch https://es.example.com:9200',
  )
}

function addSetup(program: Command): void {
  const setup = program
    .command('log-setup')
    .description('create or renew the index template, lifecycle and data stream in Elasticsearch')
    .addArgument(new Argument('[target]', 'where the traffic log goes').choices(['es', 'elasticsearch']))
    .option('-c, --config <file>', 'take the cluster and the data stream from this document')
    .option('--target <id>', "which of the document's log targets; main is that of log.sink")
  addCluster(setup)
  setup
    .option('--retention <time>', 'delete records after this time, such as 30d; none keeps them')
    .option('--replicas <n>', 'copies of each shard; 0 for a single node', wholeNumber(0, 10))
    .option('--dry-run', 'only say what would be sent')
  withOutput(setup, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/log-setup.js')).logSetup),
  )
  withExample(
    setup,
    'gw log-setup -c gateway.yaml --dry-run',
    'gw log-setup es --elasticsearch https://es.example.com:9200 --retention 30d',
  )
}

/** The same for every command that reads calls. */
function addSource(command: Command): void {
  command
    .option('--dir <dir>', 'directory of the log files; default ./data/traffic')
    .option('-c, --config <file>', 'take the directory or the cluster from this document')
    .option('--target <id>', "which of the document's log targets; main is that of log.sink")
  addCluster(command)
}

/** Secrets come from files or GW_ES_USERNAME, GW_ES_PASSWORD and GW_ES_API_KEY, which others cannot see. */
function addCluster(command: Command): void {
  command
    .option('--elasticsearch <url>', 'the cluster; may be repeated for its nodes', collect)
    .option('--data-stream <name>', 'the data stream; default logs-gateway-default')
    .option('--es-username <name>', 'the user, else GW_ES_USERNAME')
    .option('--es-password-file <file>', 'file that holds the password, else GW_ES_PASSWORD')
    .option('--es-api-key-file <file>', 'file that holds an API key, else GW_ES_API_KEY')
    .option('--es-ca-file <file>', "authorities to trust instead of the system's, PEM")
}

/** The same for every command that prints the calls it has picked. */
function printsCalls(command: Command, name: 'tail' | 'search', ...examples: readonly string[]): void {
  withOutput(command, 'table', 'jsonl').action(runs(async () => (await import('../commands/logs.js'))[name]))
  withExample(command, ...examples)
}

/** The same for every command that picks calls. Of an option that is repeated one value is enough; * is any text. */
function addFilters(command: Command): void {
  command
    .option('--status <status>', '404, 5xx or 400-499; several with commas', collect)
    .option('--route <id>', 'the route', collect)
    .option('--api <name>', 'the API that the route is a part of', collect)
    .option('--method <method>', 'the method; several with commas', collect)
    .option('--path <prefix>', 'the beginning of the path; with a * the whole path', collect)
    .option('--host <host>', 'the host', collect)
    .option('--client <address>', 'the address of the client', collect)
    .option('--consumer <id>', 'id or name of the consumer', collect)
    .option('--result <result>', 'success, blocked, error, aborted or shed; several with commas', collect)
    .option('--code <code>', 'the error code, such as GW_UPSTREAM_TIMEOUT; several with commas', collect)
    .option('--id <id>', 'the id of the request', collect)
    .option('--trace <id>', 'the id of the trace', collect)
    .option('--since <time>', '10m, 1h, or an instant such as 2026-01-31T08:00:00Z')
    .option(
      '--where <condition>',
      'any field of the record: field=value, !=, or with a number >, >=, <, <=; two with || between them: one holds',
      collect,
    )
}
