import { collect, type GwCommand } from './gw-command.js'

/** Adds the commands that manage a consumers file. */
export function addConsumerCommands(program: GwCommand): void {
  const consumer = program.subcommand(
    'consumer',
    'manage the consumers file that policies read (consumers: FILE)',
  )
  consumer
    .subcommand('add', 'add a consumer')
    .with(withTraits)
    .runs(async () => (await import('../commands/consumers.js')).addConsumer)
    .example('gw consumer add acme --group partners', 'gw consumer add ann --password < password.txt')
  addConsumerSet(consumer)
  consumer
    .subcommand('rm', 'remove a consumer and its keys')
    .argument('<id>', 'consumer id')
    .with(withFile)
    .runs(async () => (await import('../commands/consumers.js')).removeConsumer)
    .example('gw consumer rm acme')
  consumer
    .subcommand('list', 'list all consumers')
    .with(withFile)
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/consumers.js')).listConsumers)
    .example('gw consumer list -o json')
  addKeyCommands(program)
}

function addConsumerSet(consumer: GwCommand): void {
  consumer
    .subcommand('set', 'change the given settings of a consumer; others, such as its keys, stay')
    .with(withTraits)
    .option('--no-name', 'remove the name')
    .option('--no-group', 'remove all groups; the following options work the same way')
    .option('--no-role')
    .option('--no-scope')
    .option('--no-metadata')
    .option('--no-password')
    .runs(async () => (await import('../commands/consumers.js')).setConsumer)
    .example(
      'gw consumer set acme --group partners --group gold  # replaces all groups',
      'gw consumer set acme --scope orders:read --no-role',
    )
}

/** Adds the options for the settings of a consumer. */
function withTraits(command: GwCommand): GwCommand {
  return command
    .argument('<id>', 'consumer id')
    .with(withFile)
    .option('--name <name>', 'display name')
    .option('--group <group>', 'group; repeatable', collect)
    .option('--role <role>', 'role; repeatable', collect)
    .option('--scope <scope>', 'scope; repeatable', collect)
    .option('--metadata <pair>', 'claim, such as plan=gold; repeatable', collect)
    .option('--password', 'read the password from stdin')
}

function addKeyCommands(program: GwCommand): void {
  const key = program.subcommand('key', 'manage API keys in the consumers file')
  key
    .subcommand('create', 'create a key and print it once; removes expired keys of the consumer')
    .with(withNewKey)
    .runs(async () => (await import('../commands/consumer-keys.js')).createKey)
    .example('gw key create acme --expires 90d')
  key
    .subcommand('rotate', 'create a new key; existing keys expire after --overlap')
    .with(withNewKey)
    .option('--overlap <time>', 'how long existing keys stay valid', '7d')
    .runs(async () => (await import('../commands/consumer-keys.js')).rotateKey)
    .example('gw key rotate acme --overlap 24h')
  key
    .subcommand('revoke', 'remove a key')
    .with(withFile)
    .argument('<consumer>', 'consumer id')
    .argument('<key>', 'key id')
    .runs(async () => (await import('../commands/consumer-keys.js')).revokeKey)
    .example('gw key revoke acme 2030')
  key
    .subcommand('list', 'list all keys, or those of one consumer')
    .with(withFile)
    .argument('[consumer]', 'consumer id')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/consumer-keys.js')).listKeys)
    .example('gw key list acme')
}

function withNewKey(command: GwCommand): GwCommand {
  const whose = command
    .with(withFile)
    .argument('<consumer>', 'consumer id')
    .option('--id <id>', 'key id, used in logs; default: the current time')
    .option('--expires <time>', 'lifetime, such as 90d; default: unlimited')
  return whose.output('table', 'json', 'yaml')
}

function withFile(command: GwCommand): GwCommand {
  return command.option('-f, --file <file>', 'consumers file', 'consumers.jsonl')
}
