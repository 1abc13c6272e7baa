import type { Command } from 'commander'
import { collect, runs, withExample, withOutput } from './building.js'

/** Adds the commands that manage a consumers file. */
export function addConsumerCommands(program: Command): void {
  const consumer = program
    .command('consumer')
    .description('manage the consumers file that policies read (consumersFile)')
  const add = withTraits(consumer.command('add').description('add a consumer'))
  add.action(runs(async () => (await import('../commands/consumers.js')).addConsumer))
  withExample(add, 'gw consumer add acme --group partners', 'gw consumer add ann --password < password.txt')
  addConsumerSet(consumer)
  const rm = withFile(
    consumer.command('rm').description('remove a consumer and its keys').argument('<id>', 'consumer id'),
  )
  rm.action(runs(async () => (await import('../commands/consumers.js')).removeConsumer))
  withExample(rm, 'gw consumer rm acme')
  const list = withFile(consumer.command('list').description('list all consumers'))
  withOutput(list, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/consumers.js')).listConsumers),
  )
  withExample(list, 'gw consumer list -o json')
  addKeyCommands(program)
}

function addConsumerSet(consumer: Command): void {
  const set = withTraits(
    consumer
      .command('set')
      .description('change the given settings of a consumer; others, such as its keys, stay'),
  )
    .option('--no-name', 'remove the name')
    .option('--no-group', 'remove all groups; the following options work the same way')
    .option('--no-role')
    .option('--no-scope')
    .option('--no-metadata')
    .option('--no-password')
    .action(runs(async () => (await import('../commands/consumers.js')).setConsumer))
  withExample(
    set,
    'gw consumer set acme --group partners --group gold     replaces all groups',
    'gw consumer set acme --scope orders:read --no-role',
  )
}

/** Adds the options for the settings of a consumer. */
function withTraits(command: Command): Command {
  return withFile(command.argument('<id>', 'consumer id'))
    .option('--name <name>', 'display name')
    .option('--group <group>', 'group; repeatable', collect)
    .option('--role <role>', 'role; repeatable', collect)
    .option('--scope <scope>', 'scope; repeatable', collect)
    .option('--metadata <pair>', 'claim, such as plan=gold; repeatable', collect)
    .option('--password', 'read the password from stdin')
}

function addKeyCommands(program: Command): void {
  const key = program.command('key').description('manage API keys in the consumers file')
  const create = withNewKey(
    key.command('create').description('create a key and print it once; removes expired keys of the consumer'),
  )
  create.action(runs(async () => (await import('../commands/consumer-keys.js')).createKey))
  withExample(create, 'gw key create acme --expires 90d')
  const rotate = withNewKey(
    key.command('rotate').description('create a new key; existing keys expire after --overlap'),
  )
    .option('--overlap <time>', 'how long existing keys stay valid', '7d')
    .action(runs(async () => (await import('../commands/consumer-keys.js')).rotateKey))
  withExample(rotate, 'gw key rotate acme --overlap 24h')
  const revoke = withFile(key.command('revoke').description('remove a key'))
    .argument('<consumer>', 'consumer id')
    .argument('<key>', 'key id')
    .action(runs(async () => (await import('../commands/consumer-keys.js')).revokeKey))
  withExample(revoke, 'gw key revoke acme 2030')
  const list = withFile(key.command('list').description('list all keys, or those of one consumer'))
  withOutput(list.argument('[consumer]', 'consumer id'), 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/consumer-keys.js')).listKeys),
  )
  withExample(list, 'gw key list acme')
}

function withNewKey(command: Command): Command {
  const whose = withFile(command).argument('<consumer>', 'consumer id')
  whose
    .option('--id <id>', 'key id, used in logs; default: the current time')
    .option('--expires <time>', 'lifetime, such as 90d; default: unlimited')
  return withOutput(whose, 'table', 'json', 'yaml')
}

function withFile(command: Command): Command {
  return command.option('-f, --file <file>', 'consumers file', 'consumers.jsonl')
}
