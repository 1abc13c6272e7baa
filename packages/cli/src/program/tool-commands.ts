import { Argument, type Command, Option } from 'commander'
import { collect, runs, wholeNumber, withExample, withOutput } from './building.js'
import { addConsumerCommands } from './consumer-commands.js'
import { addServiceCommands } from './service-commands.js'

/** Adds the commands that need neither a document nor a gateway. */
export function addToolCommands(program: Command): void {
  program.commandsGroup('Tools:')
  addCacheServer(program)
  addServiceCommands(program)
  addSecrets(program)
  addConsumerCommands(program)
  addPolicy(program)
  addPlugin(program)
  addScript(program)
  addImport(program)
  const version = program.command('version').description('print the versions of gw and Node.js')
  withOutput(version, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/version.js')).showVersion),
  )
  withExample(version, 'gw version -o json')
  addCompletion(program)
  program.commandsGroup('')
}

function addCacheServer(program: Command): void {
  const server = program
    .command('cache-server')
    .description('run a cache server for gateways and other clients, in the foreground')
    .option(
      '--listen <address>',
      'host:port; requires --token-file unless it is a loopback address',
      '127.0.0.1:9910',
    )
    .addOption(new Option('--tier <tier>', 'number of workers').choices(['W1', 'W2', 'W4', 'W8']))
    .option('--workers <n>', 'server threads; overrides --tier; default: one per CPU', wholeNumber(1, 64))
    .option('--max-bytes <size>', 'memory for values', '256mb')
    .option('--max-object-bytes <size>', 'largest value', '1mb')
    .option('--ttl <duration>', 'default lifetime of values; none: until evicted', '1h')
    .option('--space <settings>', 'settings of a space, name=ttl:5m,max:64mb; repeatable', collect)
    .option('--connections <n>', 'maximum connections per thread', wholeNumber(1, 1_000_000), 5000)
    .option('--tls-cert <file>', 'certificate chain, PEM; requires --tls-key')
    .option('--tls-key <file>', 'private key, PEM')
    .option('--persist <url>', 'persist values in Valkey or Redis, redis://host:port or rediss://')
    .option('--persist-user <name>', 'user name for Valkey')
    .option('--persist-password-file <file>', 'password file for Valkey, readable only by its owner')
    .option(
      '--persist-prefix <text>',
      'key prefix in Valkey; must be unique per cache server',
      'sluice-cache:',
    )
    .option('--persist-timeout <duration>', 'maximum time that a request waits for Valkey', '250ms')
    .option('--persist-ca <file>', 'CA certificates for Valkey, PEM')
    .action(runs(async () => (await import('../commands/cache-server.js')).runCacheServer))
  withExample(
    server,
    'gw cache-server --tier W2 --max-bytes 2gb',
    'gw cache-server --listen :9910 --token-file token.txt --space sessions=ttl:30m,max:256mb',
  )
}

function addSecrets(program: Command): void {
  const password = program
    .command('hash-password')
    .description('hash a password from stdin, for basic-auth')
    .action(runs(async () => (await import('../commands/secrets.js')).printPasswordHash))
  withExample(password, 'gw hash-password', 'gw hash-password < password.txt')
  const newKey = program
    .command('new-key')
    .description('create a key and its digest, for api-key or the admin API')
  withOutput(newKey, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/secrets.js')).printNewKey),
  )
  withExample(newKey, 'gw new-key')
  const key = program
    .command('hash-key')
    .description('print the digest of a key from stdin, for api-key or the admin API')
    .action(runs(async () => (await import('../commands/secrets.js')).printKeyHash))
  withExample(key, 'gw hash-key < key.txt')
}

function addPolicy(program: Command): void {
  const policy = program.command('policy').description('list and describe the built-in policies')
  const list = policy.command('list').description('list all policies')
  withOutput(list, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/policy.js')).listPolicies),
  )
  withExample(list, 'gw policy list')
  const doc = policy
    .command('doc')
    .description('show the example, parameters and behaviour of a policy; with -o json its schema')
    .argument('<name>', 'policy name')
  withOutput(doc, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/policy.js')).documentPolicy),
  )
  withExample(doc, 'gw policy doc api-key')
}

function addPlugin(program: Command): void {
  const plugin = program.command('plugin').description('create, test and list plugins')
  const list = plugin
    .command('list')
    .description('list the plugins of a document, or of the running gateway')
    .argument('[document]', 'document file')
    .option('-c, --config <file>', 'document file')
  withOutput(list, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/plugin-list.js')).listPlugins),
  )
  withExample(list, 'gw plugin list gateway.yaml', 'gw plugin list --server http://127.0.0.1:9901')
  const fresh = plugin
    .command('new')
    .description('create a TypeScript package with a policy and a test')
    .argument('<name>', 'package name; the folder is named without the scope')
    .action(runs(async () => (await import('../commands/plugin-new.js')).newPlugin))
  withExample(fresh, 'gw plugin new sluice-plugin-tenants')
  const test = plugin
    .command('test')
    .description(
      'run the plugin contract tests, alone and in a gateway, and measure the cost of its policies',
    )
    .argument('[dir]', 'plugin folder with example.yaml; default: the current folder')
  withOutput(test, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/plugin-test.js')).testPlugin),
  )
  withExample(test, 'gw plugin test', 'gw plugin test ./sluice-plugin-tenants -o json')
}

function addScript(program: Command): void {
  const script = program.command('script').description('test scripts for the policy script')
  const test = script
    .command('test')
    .description('run a script on an exchange from a file and show its effects')
    .argument('<file>', 'script file')
    .option('--request <file>', 'exchange as JSON; default: GET /')
    .addOption(
      new Option('--call <side>', 'function to call')
        .choices(['request', 'response', 'error'])
        .default('request'),
    )
    .addOption(
      new Option('--engine <engine>', 'JavaScript engine')
        .choices(['auto', 'quickjs', 'isolated-vm'])
        .default('auto'),
    )
  withOutput(test, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/script.js')).testScript),
  )
  withExample(test, 'gw script test tenant.js --request order.json', 'gw script test tenant.js --call error')
}

function addImport(program: Command): void {
  const imports = program.command('import').description('create documents from other formats')
  const openapi = imports
    .command('openapi')
    .description(
      'create a document from an OpenAPI description, with one route per path and the policy openapi',
    )
    .argument('<file>', 'OpenAPI 3.0 or 3.1 description, YAML or JSON')
    .option('--out <file>', 'document file to write; default: stdout')
    .option('--upstream <url>', 'URL of the API; default: the servers in the description')
  withOutput(openapi, 'yaml', 'json').action(
    runs(async () => (await import('../commands/import-openapi.js')).importOpenapi),
  )
  withExample(openapi, 'gw import openapi api.yaml --out gateway.yaml --upstream http://10.0.0.5:9000')
}

function addCompletion(program: Command): void {
  const completion = program
    .command('completion')
    .description('print the completion script for a shell')
    .addArgument(new Argument('<shell>', 'shell').choices(['bash', 'zsh', 'fish']))
    .action(runs(async () => (await import('../completion/scripts.js')).printScript))
  withExample(completion, 'gw completion bash > /etc/bash_completion.d/gw')
  program
    .command('__complete', { hidden: true })
    .description('print completions for the last word; used by the scripts of gw completion')
    .argument('[words...]')
    .action(
      runs(async () => {
        const { printCandidates } = await import('../completion/candidates.js')
        return (_options: object, ...words: string[]) => printCandidates(program, words)
      }),
    )
}
