import { type Command, Option } from 'commander'
import { collect, runs, wholeNumber, withDocument, withExample, withOutput } from './building.js'

/** Adds the commands that work on a document and need no running gateway. */
export function addDocumentCommands(program: Command): void {
  program.commandsGroup('With a document:')
  addStart(program)
  const validate = program
    .command('validate')
    .description('check a document and compile its policies: every mistake with its place and remedy')
  withOutput(withDocument(validate), 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/validate.js')).validate),
  )
  withExample(validate, 'gw validate gateway.yaml', 'cat gateway.yaml | gw validate -c -')
  const render = program
    .command('render')
    .description('print the plan that a document makes: defaults filled, secrets hidden')
  withOutput(withDocument(render), 'json', 'yaml').action(
    runs(async () => (await import('../commands/render.js')).render),
  )
  withExample(render, 'gw render -c gateway.yaml -o yaml')
  addExplain(program)
  addSchema(program)
}

function addSchema(program: Command): void {
  const schema = program
    .command('schema')
    .description('print the JSON Schema of documents, for editors that complete and check as you type')
    .option('-c, --config <file>', 'with the policies of the plugins of this document')
  withOutput(schema, 'json', 'yaml').action(
    runs(async () => (await import('../commands/schema.js')).printSchema),
  )
  withExample(schema, 'gw schema > gateway.schema.json')
}

function addStart(program: Command): void {
  const start = program
    .command('start')
    .description('run the gateway in the foreground; it follows its document until SIGTERM or SIGINT')
  withDocument(start)
    .addOption(new Option('--tier <tier>', 'size: that many workers').choices(['W1', 'W2', 'W4', 'W8']))
    .option('--workers <n>', 'worker processes; before --tier and the document', wholeNumber(1, 64))
    .option('--listen <address>', 'address of the first listener, in place of the document, host:port')
    .addOption(
      new Option('--log-sink <sink>', 'where the traffic log goes, in place of the document').choices([
        'file',
        'elasticsearch',
        'stdout',
        'syslog',
        'webhook',
        'custom',
        'none',
      ]),
    )
    .addOption(
      new Option(
        '--log-format <format>',
        'of the operation log on stderr, else GW_LOG_FORMAT; default console on a terminal, json elsewhere',
      ).choices(['console', 'json']),
    )
    .option('--data-dir <dir>', 'for the last good document and the history of deploys', './data')
    .action(runs(async () => (await import('../commands/start-parent.js')).start))
  withExample(start, 'gw start -c gateway.yaml --tier W2')
}

function addExplain(program: Command): void {
  const explain = program
    .command('explain')
    .description('which route takes a request and why, its policies, upstream, timeouts and limits')
    .argument('<method>', 'GET, POST, …')
    .argument('<url>', 'a path with its query, or a URL')
  withDocument(explain)
    .option('-H, --header <line>', "a header field, 'name: value'; may be repeated", collect)
    .option('-d, --data <body>', 'the body; @FILE reads a file')
    .option('--client-ip <address>', 'address of the client', '127.0.0.1')
    .option(
      '--consumer <consumer>',
      'who is calling: an id that a policy of the route knows, or JSON such as {"id":"ann","groups":["staff"]}',
    )
    .option('--all', 'list every route that loses')
  withOutput(explain, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/explain.js')).explain),
  )
  withExample(
    explain,
    'gw explain GET /orders/7 -c gateway.yaml',
    'gw explain GET /orders/7 -c gateway.yaml --consumer acme     would authorize let acme in?',
    "gw explain POST http://api.example.com/orders -H 'x-tenant: acme' -d '{}' -c gateway.yaml",
  )
  // It takes the document and the format of the command that it is a part of.
  const listener = explain
    .command('listener')
    .description('what the listeners can do, by their engine')
    .argument('[document]', 'the document, as with -c')
    .configureHelp({ showGlobalOptions: true })
    .action(runs(async () => (await import('../commands/explain-listener.js')).explainListener))
  withExample(listener, 'gw explain listener -c gateway.yaml')
}
