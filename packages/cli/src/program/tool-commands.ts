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
  const version = program.command('version').description('the versions of gw and of Node.js')
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
    .description('run a cache that gateways and others share, in the foreground until SIGTERM or SIGINT')
    .option(
      '--listen <address>',
      'host:port; anything but loopback needs --token-file, the token that clients send',
      '127.0.0.1:9910',
    )
    .addOption(new Option('--tier <tier>', 'size: that many workers').choices(['W1', 'W2', 'W4', 'W8']))
    .option(
      '--workers <n>',
      'threads that serve; before --tier; default one for each CPU',
      wholeNumber(1, 64),
    )
    .option('--max-bytes <size>', 'memory for entries', '256mb')
    .option('--max-object-bytes <size>', 'longest value', '1mb')
    .option('--ttl <duration>', 'how long an entry stays that is put without ttl; none: until evicted', '1h')
    .option(
      '--space <settings>',
      'name=ttl:5m,max:64mb; what a space has of its own; may be repeated',
      collect,
    )
    .option('--connections <n>', 'most connections to one thread', wholeNumber(1, 1_000_000), 5000)
    .option('--tls-cert <file>', 'certificate chain; needs --tls-key')
    .option('--tls-key <file>', 'private key of the certificate')
    .option(
      '--persist <url>',
      'Valkey or Redis where values outlive the server, redis://host:port or rediss://',
    )
    .option('--persist-user <name>', 'the user there')
    .option('--persist-password-file <file>', 'holds the password; private (chmod 600)')
    .option('--persist-prefix <text>', 'what all keys there begin with; one for each server', 'sluice-cache:')
    .option('--persist-timeout <duration>', 'how long a request waits for it', '250ms')
    .option('--persist-ca <file>', 'authority of its certificate, PEM')
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
    .description('make a key, for api-key and for tokens of the admin API')
  withOutput(newKey, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/secrets.js')).printNewKey),
  )
  withExample(newKey, 'gw new-key')
  const key = program
    .command('hash-key')
    .description('print the digest of a key from stdin, for api-key and for tokens of the admin API')
    .action(runs(async () => (await import('../commands/secrets.js')).printKeyHash))
  withExample(key, 'gw hash-key < key.txt')
}

function addPolicy(program: Command): void {
  const policy = program.command('policy').description('the policies of this version')
  const list = policy.command('list').description('all policies, with what they do')
  withOutput(list, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/policy.js')).listPolicies),
  )
  withExample(list, 'gw policy list')
  const doc = policy
    .command('doc')
    .description('example, parameters and behaviour of one policy; as JSON, its schema')
    .argument('<name>', 'the policy')
  withOutput(doc, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/policy.js')).documentPolicy),
  )
  withExample(doc, 'gw policy doc api-key')
}

function addPlugin(program: Command): void {
  const plugin = program.command('plugin').description('packages that bring policies')
  const list = plugin
    .command('list')
    .description('the plugins of a document, or with no document those of the running gateway')
    .argument('[document]', 'the document')
    .option('-c, --config <file>', 'the document')
  withOutput(list, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/plugin-list.js')).listPlugins),
  )
  withExample(list, 'gw plugin list gateway.yaml', 'gw plugin list --server http://127.0.0.1:9901')
  const fresh = plugin
    .command('new')
    .description('make a package in TypeScript with a policy and its test')
    .argument('<name>', 'of the package; that of its folder is the same without the scope')
    .action(runs(async () => (await import('../commands/plugin-new.js')).newPlugin))
  withExample(fresh, 'gw plugin new sluice-plugin-tenants')
  const test = plugin
    .command('test')
    .description(
      'hold a plugin against the contract, alone and in a gateway, and measure what its policies cost',
    )
    .argument('[dir]', 'its folder, which has an example.yaml; this one where none is named')
  withOutput(test, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/plugin-test.js')).testPlugin),
  )
  withExample(test, 'gw plugin test', 'gw plugin test ./sluice-plugin-tenants -o json')
}

function addScript(program: Command): void {
  const script = program.command('script').description('try scripts of the policy script')
  const test = script
    .command('test')
    .description('run a script against an exchange from a file, and show what it did')
    .argument('<file>', 'the script')
    .option('--request <file>', 'the exchange, as JSON; without it a GET of /')
    .addOption(
      new Option('--call <side>', 'which of its functions')
        .choices(['request', 'response', 'error'])
        .default('request'),
    )
    .addOption(
      new Option('--engine <engine>', 'what runs it')
        .choices(['auto', 'quickjs', 'isolated-vm'])
        .default('auto'),
    )
  withOutput(test, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/script.js')).testScript),
  )
  withExample(test, 'gw script test tenant.js --request order.json', 'gw script test tenant.js --call error')
}

function addImport(program: Command): void {
  const imports = program.command('import').description('make documents of what other tools describe')
  const openapi = imports
    .command('openapi')
    .description(
      'write a document with a route for each path of an OpenAPI description, and the policy openapi',
    )
    .argument('<file>', 'the description, OpenAPI 3.0 or 3.1, YAML or JSON')
    .option('--out <file>', 'the document to write; without it, it is printed')
    .option('--upstream <url>', 'where the API is, in place of the servers of the description')
  withOutput(openapi, 'yaml', 'json').action(
    runs(async () => (await import('../commands/import-openapi.js')).importOpenapi),
  )
  withExample(openapi, 'gw import openapi api.yaml --out gateway.yaml --upstream http://10.0.0.5:9000')
}

function addCompletion(program: Command): void {
  const completion = program
    .command('completion')
    .description('print the script that completes gw in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(runs(async () => (await import('../completion/scripts.js')).printScript))
  withExample(completion, 'gw completion bash > /etc/bash_completion.d/gw')
  program
    .command('__complete', { hidden: true })
    .description('print what may stand at the last of these words; for the scripts of gw completion')
    .argument('[words...]')
    .action(
      runs(async () => {
        const { printCandidates } = await import('../completion/candidates.js')
        return (_options: object, ...words: string[]) => printCandidates(program, words)
      }),
    )
}
