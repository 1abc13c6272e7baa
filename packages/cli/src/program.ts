import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { DeployOptions } from './commands/deploy.js'
import type { ExplainOptions } from './commands/explain.js'
import type { InspectOptions } from './commands/inspect.js'
import type { TailOptions } from './commands/logs.js'
import type { StartOptions } from './commands/start.js'
import { beQuiet, type Format } from './output/output.js'

/** The whole command tree. Commands load what they need when they run, so that `gw --help` starts at once. */
export function createProgram(): Command {
  const program = new Command('gw')
    .description('Sluice, an API gateway: run it, check its document, deploy to it, look into it')
    .version(version(), '-V, --version')
    .option('--quiet', 'leave out messages; results and errors stay')
    .on('option:quiet', beQuiet)
    .showSuggestionAfterError()
  addStart(program)
  addDocumentCommands(program)
  addDeployCommands(program)
  addInspectCommands(program)
  addLogCommands(program)
  addToolCommands(program)
  overrideExit(program)
  return program
}

interface DocumentOptions {
  readonly config: string
  readonly output: Format
}

function addStart(program: Command): void {
  withConfig(program.command('start'))
    .description('run the gateway in the foreground until SIGTERM or SIGINT')
    .addOption(new Option('--tier <tier>', 'size of the installation').choices(['W1', 'W2', 'W4', 'W8']))
    .option('--workers <n>', 'worker processes', wholeNumber)
    .option('--listen <address>', 'address of the first listener, host:port')
    .addOption(new Option('--log-sink <sink>', 'traffic log').choices(['file', 'elasticsearch', 'none']))
    .option('--data-dir <dir>', 'where the last good plan and the deploys are kept', './data')
    .addHelpText('after', '\nExample:\n  gw start -c gateway.yaml --tier W2')
    .action(run(async (options: StartOptions) => (await import('./commands/start.js')).start(options)))
}

function addDocumentCommands(program: Command): void {
  withConfig(program.command('validate'))
    .description('check a document: every mistake with line, column and remedy')
    .addOption(outputOption())
    .addHelpText('after', '\nExample:\n  gw validate -c gateway.yaml')
    .action(
      run(async (o: DocumentOptions) =>
        (await import('./commands/validate.js')).validate(o.config, o.output),
      ),
    )
  withConfig(program.command('render'))
    .description('print the plan that a document makes; secrets stay hidden')
    .addOption(outputOption())
    .action(
      run(async (o: DocumentOptions) => (await import('./commands/render.js')).render(o.config, o.output)),
    )
  withConfig(program.command('explain <method> <url>'))
    .description('which route takes a request and why, its policies, upstream, timeouts and limits')
    .option('-H, --header <line>', "a request header, 'name: value'; may be repeated", collect, [])
    .option('-d, --data <body>', 'the request body')
    .option('--client-ip <address>', 'address of the client')
    .addOption(outputOption())
    .addHelpText('after', '\nExample:\n  gw explain GET http://api.example.com/orders/7 -c gateway.yaml')
    .action(async (method: string, url: string, options: ExplainOptions) => {
      process.exitCode = (await import('./commands/explain.js')).explain(method, url, options)
    })
}

function addDeployCommands(program: Command): void {
  withServer(withConfig(program.command('deploy')))
    .description('bring a document to a running gateway: all workers or none')
    .option('--dry-run', 'only say what would change')
    .option('--note <text>', 'why, for the history')
    .addHelpText('after', '\nExample:\n  gw deploy -c gateway.yaml --note "raise the limits"')
    .action(run(async (options: DeployOptions) => (await import('./commands/deploy.js')).deploy(options)))
  withServer(withConfig(program.command('diff')))
    .description('what differs between a document and the running gateway')
    .option('--exit-code', 'exit with 2 when there are differences')
    .action(run(async (options: DeployOptions) => (await import('./commands/deploy.js')).diff(options)))
}

function addInspectCommands(program: Command): void {
  const inspect = () => import('./commands/inspect.js')
  withServer(program.command('status'))
    .description('workers, listeners and the configuration that serves')
    .action(run(async (options: InspectOptions) => (await inspect()).status(options)))
  withServer(program.command('routes'))
    .description('the routes that serve, in the order in which they win')
    .action(run(async (options: InspectOptions) => (await inspect()).routes(options)))
  const upstream = program.command('upstream').description('the upstreams of the running gateway')
  withServer(upstream.command('list'))
    .description('targets with their counters')
    .action(run(async (options: InspectOptions) => (await inspect()).upstreams(options)))
}

function addLogCommands(program: Command): void {
  const logs = program.command('logs').description('the traffic log')
  logs
    .command('tail')
    .description('the newest records, and those that come')
    .option('--dir <dir>', 'directory of the log files; default ./data/traffic')
    .option('-c, --config <file>', 'take the directory from this document')
    .option('--last <n>', 'records to begin with', wholeNumber, 10)
    .option('--no-follow', 'end after the records that are there')
    .option('--status <status>', '404, 5xx or 400-499')
    .option('--route <id>', 'route')
    .option('--method <method>', 'method')
    .option('--path <prefix>', 'beginning of the path')
    .option('--host <host>', 'host')
    .option('--client <address>', "the client's address")
    .option('--consumer <id>', 'consumer')
    .option('--result <result>', 'success, blocked, error, aborted or shed')
    .option('--code <code>', 'error code')
    .option('--since <time>', '10m, 1h or an instant')
    .option('--where <field=value>', 'any field of the record; may be repeated', collect, [])
    .addOption(outputOption(['table', 'jsonl']))
    .addHelpText('after', '\nExample:\n  gw logs tail --status 5xx --since 1h')
    .action(run(async (options: TailOptions) => (await import('./commands/logs.js')).tail(options)))
}

function addToolCommands(program: Command): void {
  const secrets = () => import('./commands/secrets.js')
  const policies = () => import('./commands/policy.js')
  program
    .command('hash-password')
    .description('hash a password from stdin for basic-auth')
    .action(run(async () => (await secrets()).hashPasswordCommand()))
  program
    .command('hash-key')
    .description('digest of a key from stdin for api-key')
    .action(run(async () => (await secrets()).hashKeyCommand()))
  program
    .command('new-key')
    .description('make a key for api-key')
    .action(run(async () => (await secrets()).newKeyCommand()))
  const policy = program.command('policy').description('the policies of this build')
  policy
    .command('list')
    .description('all policies')
    .action(run(async () => (await policies()).listPolicies()))
  policy
    .command('doc <name>')
    .description('parameters and an example of a policy')
    .action(async (name: string) => {
      process.exitCode = (await policies()).documentPolicy(name)
    })
}

function withConfig(command: Command): Command {
  return command.requiredOption('-c, --config <file>', 'the document')
}

function withServer(command: Command): Command {
  return command
    .option('--server <url>', 'the admin API; default GW_SERVER or http://127.0.0.1:9901')
    .option('--token-file <file>', 'file with the token; default GW_TOKEN')
    .addOption(outputOption())
}

function outputOption(formats: readonly Format[] = ['table', 'json', 'yaml', 'jsonl']): Option {
  return new Option('-o, --output <format>', 'how to print').choices(formats).default('table')
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('write a whole number')
}

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value]
}

/** Commander shall throw instead of ending the process; children do not inherit that. */
function overrideExit(command: Command): void {
  command.exitOverride()
  for (const child of command.commands) overrideExit(child)
}

function run<T>(command: (options: T) => Promise<number>): (options: T) => Promise<void> {
  return async (options) => {
    process.exitCode = await command(options)
  }
}

function version(): string {
  const file = new URL('../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}
