import type { Command } from 'commander'
import { type DocumentOptions, hasController } from '../input/options.js'
import { collect, type GwCommand, wholeNumber } from './gw-command.js'
import { addPlaces } from './log-options.js'
import { addTest } from './test-command.js'

/** Adds the commands that work on a document without a running gateway. */
export function addDocumentCommands(program: GwCommand): void {
  program.commandsGroup('Document:')
  addInit(program)
  addStart(program)
  addDev(program)
  program
    .command('validate')
    .description('check a document and compile its policies; reports all errors with position and fix')
    .document()
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/validate.js')).validate)
    .example('gw validate gateway.yaml', 'cat gateway.yaml | gw validate -c -')
  addLint(program)
  addFmt(program)
  addTest(program)
  program
    .subcommand('render', 'print the plan of a document, with defaults and without secrets')
    .document()
    .output('json', 'yaml')
    .runs(async () => (await import('../commands/render.js')).render)
    .example('gw render -c gateway.yaml -o yaml')
  addExplain(program)
  addSchema(program)
}

function addLint(program: GwCommand): void {
  program
    .subcommand('lint', 'find risky, slow or unused settings in valid documents')
    .argument('[documents...]', 'document files; default gateway.yaml')
    .option('-c, --config <file>', 'document file; - reads from stdin; repeatable', collect)
    .option('--rules', 'list all rules')
    .option('--explain <rule>', 'explain a rule, with examples')
    .option('--disable <rule>', 'do not check a rule; repeatable', collect)
    .choice(
      '--fail-on <severity>',
      'minimum severity that exits with 2',
      ['error', 'warning', 'info'],
      'warning',
    )
    .option('--online', 'also connect to each target')
    .choice('-o, --output <format>', 'output format', ['table', 'json', 'yaml', 'sarif'], 'table')
    .runs(async () => (await import('../commands/lint.js')).lint)
    .example(
      'gw lint gateway.yaml',
      'gw lint --explain unprotected-route',
      'gw lint gateway.yaml -o sarif > lint.sarif',
    )
}

function addFmt(program: GwCommand): void {
  program
    .subcommand('fmt', 'format documents: indentation, quotes and order of keys; keeps comments and values')
    .argument('[files...]', 'files; default gateway.yaml; - formats stdin to stdout')
    .option('--check', 'only list the files that are not formatted, and exit with 2')
    .option('--diff', 'only show the differences, and exit with 2')
    .runs(async () => (await import('../commands/fmt.js')).fmt)
    .example('gw fmt gateway.yaml', 'gw fmt --check *.yaml')
}

function addSchema(program: GwCommand): void {
  program
    .subcommand('schema', 'print the JSON Schema of documents, for completion and validation in editors')
    .option('-c, --config <file>', "include the policies of this document's plugins")
    .option('--tests', 'print the schema of case files for gw test instead')
    .output('json', 'yaml')
    .runs(async () => (await import('../commands/render.js')).printSchema)
    .example('gw schema > gateway.schema.json', 'gw schema --tests > tests.schema.json')
}

function addStart(program: GwCommand): void {
  program
    .subcommand('start', 'run the gateway in the foreground; reloads the document when it changes')
    .document(needsDocument)
    .choice('--tier <tier>', 'size of the gateway: W1 = 1 CPU, W2 = 2 CPUs, …', ['W1', 'W2', 'W4', 'W8'])
    .option('--workers <n>', 'worker processes; overrides --tier and the document', wholeNumber(1, 64))
    .option('--listen <address>', 'host:port of the first listener; overrides the document')
    .choice('--log-sink <kind>', 'only log target; overrides log.sink and log.outputs of the document', [
      'file',
      'elasticsearch',
      'stdout',
      'syslog',
      'webhook',
      'loki',
      'kafka',
      'otlp',
      'custom',
      'none',
    ])
    .choice(
      '--log-format <format>',
      'format of the operation log on stderr; default GW_LOG_FORMAT, or console on a terminal and json elsewhere',
      ['console', 'json'],
    )
    .option(
      '--data-dir <dir>',
      'folder for the last valid document, the deploy history and the bundles of a controller',
      './data',
    )
    .with(withControl)
    .runs(async () => (await import('../commands/start-parent.js')).start)
    .example(
      'gw start -c gateway.yaml --tier W2',
      'gw start --control https://control.example.com:9443 --group edge-eu --control-token-file token',
    )
}

function addInit(program: GwCommand): void {
  program
    .subcommand('init', 'create a project: a document, tests, a CI workflow, and schemas for editors')
    .argument('[dir]', 'folder of the project; default: this folder')
    .option('--from <file>', 'OpenAPI description to create routes, request validation and test cases from')
    .option('--issuer <url>', 'issuer of the bearer tokens, if the description does not name it')
    .option('--force', 'overwrite existing files')
    .onlyWith('from', 'issuer')
    .runs(async () => (await import('../commands/init.js')).init)
    .example('gw init my-gateway', 'gw init my-gateway --from openapi.yaml')
}

function addDev(program: GwCommand): void {
  program
    .subcommand('dev', 'run a gateway for development, with a live view of requests and errors')
    .document()
    .option(
      '-p, --port <port>',
      'port of the first listener; default: from the document',
      wholeNumber(0, 65_535),
    )
    .option('--host <host>', 'host of all listeners, such as 0.0.0.0; default: this machine only')
    .option('--workers <n>', 'worker processes', wholeNumber(1, 64), 1)
    .choice('--mock <which>', 'upstreams to mock', ['unreachable', 'all', 'none'], 'unreachable')
    .output('table', 'json')
    .runs(async () => (await import('../commands/dev.js')).dev)
    .example('gw dev gateway.yaml', 'gw dev gateway.yaml --port 8081 --mock all')
}

/** Adds the options for the connection to a controller. */
function withControl(command: GwCommand): GwCommand {
  return command
    .option(
      '--control <url>',
      'URL of a controller (gw control) that configures this gateway; repeatable; default GW_CONTROL',
      collect,
    )
    .option('--group <name>', 'group of gateways to join, with --control; default GW_CONTROL_GROUP')
    .option('--control-name <name>', 'name in the fleet; default GW_CONTROL_NAME, or the host name')
    .option(
      '--control-token-file <file>',
      'file with the token; default GW_CONTROL_TOKEN_FILE, or the token in GW_CONTROL_TOKEN',
    )
    .option('--control-ca <file>', "CA certificates in place of the system's, PEM; default GW_CONTROL_CA")
    .option('--control-cert <file>', 'client certificate, PEM; default GW_CONTROL_CERT')
    .option('--control-key <file>', 'key of the client certificate, PEM; default GW_CONTROL_KEY')
    .option(
      '--control-fingerprint <sha256>',
      'fingerprint that the certificate of the controller must have; repeatable; default GW_CONTROL_FINGERPRINT',
      collect,
    )
}

/** True if a document was given, or if there is no controller to get one from. */
function needsDocument(run: Command): boolean {
  const { config } = run.opts<Partial<DocumentOptions>>()
  return run.args.length > 0 || config !== undefined || !hasController(run.opts())
}

const URL_START = /^(?:\/|https?:)/

/** Checks that a request is given, either by method and URL or by id. */
function checkRequest(run: Command): void {
  const [method, url] = run.args
  if (run.getOptionValue('id') !== undefined) {
    if (method !== undefined)
      run.error(`error: --id cannot be combined with '${method}'; name the document with -c`)
  } else if (method === undefined) run.error(`error: missing required argument 'method'`)
  else if (url === undefined) {
    if (!URL_START.test(method)) run.error(`error: missing required argument 'url'`)
  } else if (method.startsWith('/') && !/^[A-Z]+$/.test(url))
    run.error(`error: '${method}' is not a method; write gw explain GET ${run.args.join(' ')}`)
}

function addExplain(program: GwCommand): void {
  const explain = program
    .command('explain')
    .description('show which route handles a request and why, with policies, upstream, timeouts and limits')
    .argument('[method]', 'GET, POST, …; default: GET')
    .argument('[url]', 'URL, or path and query')
    .hook('preAction', (_explain, run) => {
      if (run === explain) checkRequest(run)
    })
    .document((run) => run.getOptionValue('id') === undefined)
    .option(
      '--id <request>',
      'explain the response to this request id, from the traffic log, instead of METHOD and URL',
    )
    .option('--since <time>', 'with --id: earliest time to search: 10m, 1h, or 2026-01-31T08:00:00Z')
    .with(addPlaces)
    .option('-H, --header <line>', "header field, 'name: value'; repeatable", collect)
    .option('-d, --data <body>', 'request body; @FILE reads it from a file')
    .option('--client-ip <address>', 'client address', '127.0.0.1')
    .option(
      '--consumer <consumer>',
      'consumer: an id that a policy of the route knows, or JSON such as {"id":"ann","groups":["staff"]}',
    )
    .option('--all', 'list all routes that do not match')
    .option('--expect-route <id>', 'exit with 7 unless this route handles the request')
    .usesServer(true)
    .excludes('id', 'header', 'data', 'clientIp', 'consumer', 'all')
    .onlyWith('id', 'since')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/explain.js')).explain)
    .example(
      'gw explain --id 01jd3k5h2m -c gateway.yaml',
      'gw explain GET /orders/7 -c gateway.yaml',
      'gw explain GET /orders/7 -c gateway.yaml --expect-route orders',
      'gw explain GET /orders/7 -c gateway.yaml --consumer acme',
      "gw explain POST http://api.example.com/orders -H 'x-tenant: acme' -d '{}' -c gateway.yaml",
    )
  // Inherits the document and format options of its parent command.
  explain
    .subcommand('listener', 'show the features and settings of the listeners')
    .argument('[document]', 'document file, same as -c')
    .inherits('--config', '--output')
    .usesServer(false)
    .runs(async () => (await import('../commands/explain-listener.js')).explainListener)
    .example('gw explain listener -c gateway.yaml')
}
