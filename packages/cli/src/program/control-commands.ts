import { InvalidArgumentError } from 'commander'
import { collect, type GwCommand, percent, shortTime, wholeNumber } from './gw-command.js'

/** Adds `--group`, which selects a group of gateways at a controller. */
export function withGroup(command: GwCommand): GwCommand {
  return command.option(
    '--group <name>',
    'use a group of gateways; --server or GW_CONTROL_SERVER is the controller',
  )
}

/** Adds `--team`, which selects a part of the source of a group. */
export function withTeam(command: GwCommand): GwCommand {
  return command
    .option('--team <name>', 'with --group: the document is the folder or file with the fragments of a team')
    .onlyWith('group', 'team')
}

/** Adds the options of deploys to groups. */
export function withGroupDeploy(command: GwCommand): GwCommand {
  return command
    .with(withGroup)
    .option(
      '--quorum <percent>',
      'with --group: share of the known gateways that must be prepared; default 50%',
      percent,
    )
    .option('--deadline <time>', 'with --group: time for gateways to prepare; default 30s', shortTime)
    .onlyWith('group', 'quorum', 'deadline')
}

/** Adds the options of canary deploys to groups. */
export function withCanary(command: GwCommand): GwCommand {
  return command
    .option(
      '--canary <size>',
      'with --group: deploy to some gateways first and compare them with the others; for example 1 or 10%',
      canarySize,
    )
    .option('--for <time>', 'with --canary: duration of the comparison; default 5m', shortTime)
    .option(
      '--abort-on <condition>',
      "with --canary: abort if this is true; default 'errors > 1% || p99 > 2x'",
    )
    .option('--abort', 'with --group: abort the running deploy; canaries return to the previous document')
    .onlyWith('group', 'canary', 'abort')
    .onlyWith('canary', 'for', 'abortOn')
    .atMostOne('canary', 'abort')
}

function canarySize(text: string): string {
  if (/^([1-9]\d{0,3}|[1-9]\d?%)$/.test(text)) return text
  throw new InvalidArgumentError('use a number of gateways or a share of them, for example 1 or 10%')
}

/** Adds `gw fleet` and `gw control`. */
export function addControlCommands(program: GwCommand): void {
  program.commandsGroup('Fleet:')
  addFleet(program)
  const control = program.subcommand('control', 'run and administer a controller of many gateways')
  addControlStart(control)
  addTokens(control)
  control
    .subcommand('groups', 'list the groups of gateways')
    .output('table', 'wide', 'json', 'yaml')
    .runs(async () => (await import('../commands/control-tokens.js')).listGroups)
    .example('gw control groups')
  control
    .subcommand('audit', 'show who changed what: deploys, tokens and members')
    .option('--group <name>', 'only entries about this group')
    .option('--limit <n>', 'number of entries', wholeNumber(1, 1000), 50)
    .output('table', 'wide', 'json', 'yaml')
    .runs(async () => (await import('../commands/control-tokens.js')).printAudit)
    .example('gw control audit --group edge-eu -o json')
}

function addFleet(program: GwCommand): void {
  const fleet = program.subcommand('fleet', 'show the gateways of a controller')
  fleet
    .defaultCommand('list', 'list gateways with their configuration, drift and traffic')
    .option('--group <name>', 'only this group')
    .output('table', 'wide', 'json', 'yaml')
    .runs(async () => (await import('../commands/fleet.js')).listFleet)
    .example('gw fleet --server https://control.example.com --group edge-eu')
  fleet
    .subcommand('forget', 'forget a gateway that was removed for good, so that quorums do not count it')
    .argument('<name>', 'name or id of the gateway')
    .option('--group <name>', 'group of the gateway, if several have this name')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/fleet.js')).forgetMember)
    .example('gw fleet forget edge-7')
}

function addControlStart(control: GwCommand): void {
  control
    .subcommand('start', 'run a controller in the foreground')
    .usesServer(false)
    .option('--store <place>', 'folder, or postgres:// URL to share it with other controllers', './control')
    .option('--listen <address>', 'host:port', '127.0.0.1:9910')
    .option('--tls-cert <file>', 'certificate, PEM')
    .option('--tls-key <file>', 'key of the certificate, PEM')
    .option('--client-ca <file>', 'authority that signs the certificates of gateways, PEM')
    .option('--behind-proxy', 'allow plain HTTP beyond loopback, because a proxy terminates TLS')
    .excludes('behindProxy', 'tlsCert', 'tlsKey')
    .option('--host <name>', 'name that clients use; repeatable', collect)
    .option('--admin-token-file <file>', 'file for the first admin token; default: admin-token in the store')
    .option('--oidc-issuer <url>', 'OpenID Connect provider at which people log in to the dashboard')
    .option('--oidc-client-id <id>', 'client at the provider')
    .option(
      '--oidc-client-secret-file <file>',
      'file with the secret of the client; default: GW_CONTROL_OIDC_CLIENT_SECRET',
    )
    .option('--oidc-scope <scopes>', 'scopes to request', 'openid profile email')
    .option('--oidc-claim <name>', 'claim whose values have roles', 'groups')
    .option(
      '--oidc-role <rule>',
      'role for a value of the claim: platform=admin or shop=deployer:shop-*,test; repeatable',
      collect,
    )
    .option('--keep <n>', 'number of deploys per group to keep', wholeNumber(1, 10_000), 100)
    .option(
      '--max-members-per-token <n>',
      'number of gateways that one token or certificate may add',
      wholeNumber(1, 100_000),
      500,
    )
    .runs(async () => (await import('../commands/control-start.js')).startControl)
    .example(
      'gw control start --store /var/lib/sluice/control',
      'gw control start --oidc-issuer https://login.example.com --oidc-client-id sluice --oidc-role platform=admin',
      'gw control start --store postgres://sluice@db/control --listen 0.0.0.0:9910 --tls-cert c.pem --tls-key k.pem',
    )
}

function addTokens(control: GwCommand): void {
  const token = control.command('token').alias('tokens').description('create, list and revoke tokens')
  token
    .defaultCommand('list', 'list tokens')
    .output('table', 'wide', 'json', 'yaml')
    .runs(async () => (await import('../commands/control-tokens.js')).listTokens)
    .example('gw control token list')
  token
    .subcommand('create', 'create a token and print it')
    .argument('<name>', 'name in the audit trail')
    .choice('--role <role>', 'viewer: read; deployer: deploy; admin: everything; member: gateways', [
      'viewer',
      'deployer',
      'admin',
      'member',
    ])
    .option('--group <glob>', 'groups that the token is for, such as edge-*; repeatable; default: *', collect)
    .option('--team <name>', 'with --role deployer: only fragments of this team')
    .option('--routes <prefix>', 'with --team: routes must be under this path; repeatable', collect)
    .onlyWith('team', 'routes')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/control-tokens.js')).createToken)
    .example(
      'gw control token create edge-eu-gateways --role member --group edge-eu',
      'gw control token create payments-ci --role deployer --group edge-eu --team payments --routes /payments',
    )
  token
    .subcommand('revoke', 'revoke a token; gateways that use it are disconnected')
    .argument('<name>', 'name of the token')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/control-tokens.js')).revokeToken)
    .example('gw control token revoke edge-eu-gateways')
}
