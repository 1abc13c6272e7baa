import type { Command } from 'commander'
import { collect, runs, withExample, withOutput } from './building.js'

/** Adds the commands on a file of consumers. */
export function addConsumerCommands(program: Command): void {
  const consumer = program
    .command('consumer')
    .description('consumers of a file, for consumersFile of a policy')
  const add = withTraits(consumer.command('add').description('add a consumer'))
  add.action(runs(async () => (await import('../commands/consumers.js')).addConsumer))
  withExample(add, 'gw consumer add acme --group partners', 'gw consumer add ann --password < password.txt')
  addConsumerSet(consumer)
  const rm = withFile(
    consumer.command('rm').description('remove a consumer and its keys').argument('<id>', 'its id'),
  )
  rm.action(runs(async () => (await import('../commands/consumers.js')).removeConsumer))
  withExample(rm, 'gw consumer rm acme')
  const list = withFile(consumer.command('list').description('all consumers of the file'))
  withOutput(list, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/consumers.js')).listConsumers),
  )
  withExample(list, 'gw consumer list -o json')
  addKeyCommands(program)
}

function addConsumerSet(consumer: Command): void {
  const set = withTraits(
    consumer.command('set').description('change what is named of a consumer; the rest stays, its keys too'),
  )
    .option('--no-name', 'take its name away')
    .option('--no-group', 'take all its groups away; likewise for the others')
    .option('--no-role')
    .option('--no-scope')
    .option('--no-metadata')
    .option('--no-password')
    .action(runs(async () => (await import('../commands/consumers.js')).setConsumer))
  withExample(
    set,
    'gw consumer set acme --group partners --group gold     these two, whatever it had',
    'gw consumer set acme --scope orders:read --no-role',
  )
}

/** The options that say what a consumer has. */
function withTraits(command: Command): Command {
  return withFile(command.argument('<id>', 'its id'))
    .option('--name <name>', 'what people call it')
    .option('--group <group>', 'a group of it; may be repeated', collect)
    .option('--role <role>', 'a role of it; may be repeated', collect)
    .option('--scope <scope>', 'a scope of its credentials; may be repeated', collect)
    .option('--metadata <pair>', 'a claim of it, such as plan=gold; may be repeated', collect)
    .option('--password', 'reads its password from stdin')
}

function addKeyCommands(program: Command): void {
  const key = program.command('key').description('keys of the consumers of a file, for api-key')
  const create = withNewKey(
    key
      .command('create')
      .description(
        'make one more key, which is shown once; those of the consumer that have expired are removed',
      ),
  )
  create.action(runs(async () => (await import('../commands/consumer-keys.js')).createKey))
  withExample(create, 'gw key create acme --expires 90d')
  const rotate = withNewKey(
    key.command('rotate').description('make a key; the others expire after --overlap'),
  )
    .option('--overlap <time>', 'how long the others stay valid', '7d')
    .action(runs(async () => (await import('../commands/consumer-keys.js')).rotateKey))
  withExample(rotate, 'gw key rotate acme --overlap 24h')
  const revoke = withFile(key.command('revoke').description('remove a key'))
    .argument('<consumer>', 'whose key it is')
    .argument('<key>', 'the id of the key')
    .action(runs(async () => (await import('../commands/consumer-keys.js')).revokeKey))
  withExample(revoke, 'gw key revoke acme 2030')
  const list = withFile(key.command('list').description('all keys of the file, or of one consumer'))
  withOutput(list.argument('[consumer]', 'whose keys'), 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/consumer-keys.js')).listKeys),
  )
  withExample(list, 'gw key list acme')
}

function withNewKey(command: Command): Command {
  const whose = withFile(command).argument('<consumer>', 'whose key it is')
  whose
    .option('--id <id>', 'what the log calls the key; default: the time')
    .option('--expires <time>', 'when it ends from now on, such as 90d; default: never')
  return withOutput(whose, 'table', 'json', 'yaml')
}

function withFile(command: Command): Command {
  return command.option('-f, --file <file>', 'the file of consumers', 'consumers.jsonl')
}
