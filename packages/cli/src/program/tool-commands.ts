import { Argument } from 'commander'
import { addConsumerCommands } from './consumer-commands.js'
import { collect, type GwCommand, wholeNumber } from './gw-command.js'
import { addImportCommands } from './import-commands.js'
import { addServiceCommands } from './service-commands.js'

/** Adds the commands that need neither a document nor a gateway. */
export function addToolCommands(program: GwCommand): void {
  program.commandsGroup('Tools:')
  addCacheServer(program)
  addServiceCommands(program)
  addSecrets(program)
  addConsumerCommands(program)
  addPolicy(program)
  addPlugin(program)
  addScript(program)
  addImportCommands(program)
  program
    .subcommand('version', 'print the versions of gw and Node.js')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/version.js')).showVersion)
    .example('gw version -o json')
  addCompletion(program)
  program.commandsGroup('')
}

function addCacheServer(program: GwCommand): void {
  program
    .subcommand('cache-server', 'run a cache server for gateways and other clients, in the foreground')
    .option(
      '--listen <address>',
      'host:port; requires --token-file unless it is a loopback address',
      '127.0.0.1:9910',
    )
    .choice('--tier <tier>', 'number of workers', ['W1', 'W2', 'W4', 'W8'])
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
    .runs(async () => (await import('../commands/cache-server.js')).runCacheServer)
    .example(
      'gw cache-server --tier W2 --max-bytes 2gb',
      'gw cache-server --listen :9910 --token-file token.txt --space sessions=ttl:30m,max:256mb',
    )
}

function addSecrets(program: GwCommand): void {
  program
    .subcommand('hash-password', 'hash a password from stdin, for basic-auth')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/secrets.js')).printPasswordHash)
    .example('gw hash-password', 'gw hash-password < password.txt')
  program
    .subcommand('new-key', 'create a key and its digest, for api-key or the admin API')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/secrets.js')).printNewKey)
    .example('gw new-key')
  program
    .subcommand('hash-key', 'print the digest of a key from stdin, for api-key or the admin API')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/secrets.js')).printKeyHash)
    .example('gw hash-key < key.txt')
}

function addPolicy(program: GwCommand): void {
  const policy = program.subcommand('policy', 'list and describe the built-in policies')
  policy
    .subcommand('list', 'list all policies')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/policy.js')).listPolicies)
    .example('gw policy list')
  policy
    .subcommand('doc', 'show the example, parameters and behaviour of a policy; with -o json its schema')
    .argument('<name>', 'policy name')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/policy.js')).documentPolicy)
    .example('gw policy doc api-key')
}

function addPlugin(program: GwCommand): void {
  const plugin = program.subcommand('plugin', 'create, test and list plugins')
  plugin
    .subcommand('list', 'list the plugins of a document, or of the running gateway')
    .argument('[document]', 'document file')
    .option('-c, --config <file>', 'document file')
    .usesServer(true)
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/plugin-list.js')).listPlugins)
    .example('gw plugin list gateway.yaml', 'gw plugin list --server http://127.0.0.1:9901')
  plugin
    .subcommand('new', 'create a TypeScript package with a policy and a test')
    .argument('<name>', 'package name; the folder is named without the scope')
    .runs(async () => (await import('../commands/plugin-new.js')).newPlugin)
    .example('gw plugin new sluice-plugin-tenants')
  plugin
    .command('test')
    .description(
      'run the plugin contract tests, alone and in a gateway, and measure the cost of its policies',
    )
    .argument('[dir]', 'plugin folder with example.yaml; default: the current folder')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/plugin-test.js')).testPlugin)
    .example('gw plugin test', 'gw plugin test ./sluice-plugin-tenants -o json')
}

function addScript(program: GwCommand): void {
  const script = program.subcommand('script', 'test scripts for the policy script')
  script
    .subcommand('test', 'run a script on an exchange from a file and show its effects')
    .argument('<file>', 'script file')
    .option('--request <file>', 'exchange as JSON; default: GET /')
    .choice('--call <side>', 'function to call', ['request', 'response', 'error'], 'request')
    .choice('--engine <engine>', 'JavaScript engine', ['auto', 'quickjs', 'isolated-vm'], 'auto')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/script.js')).testScript)
    .example('gw script test tenant.js --request order.json', 'gw script test tenant.js --call error')
}

function addCompletion(program: GwCommand): void {
  program
    .subcommand('completion', 'print the completion script for a shell')
    .addArgument(new Argument('<shell>', 'shell').choices(['bash', 'zsh', 'fish']))
    .runs(async () => (await import('../completion/scripts.js')).printScript)
    .example('gw completion bash > /etc/bash_completion.d/gw')
  program
    .command('__complete', { hidden: true })
    .description('print completions for the last word; used by the scripts of gw completion')
    .argument('[words...]')
    .runs(async () => {
      const { printCandidates } = await import('../completion/candidates.js')
      return (_options: object, ...words: string[]) => printCandidates(program, words)
    })
}
