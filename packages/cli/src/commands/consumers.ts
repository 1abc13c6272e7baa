import { hashPassword } from '@sluice/policies'
import { type ConsumerRecord, changeConsumers, consumerIn, readConsumers } from '../consumers/edited-file.js'
import type { OutputOptions } from '../input/options.js'
import { readSecret } from '../input/secret.js'
import { Failure, messageOf, usageError } from '../output/failure.js'
import { printResult, printTable, say } from '../output/output.js'

interface FileOptions {
  readonly file: string
}

/** New settings of a consumer; false removes one (`--no-group`). */
interface TraitOptions extends FileOptions {
  readonly name?: string | false
  readonly group?: readonly string[] | false
  readonly role?: readonly string[] | false
  readonly scope?: readonly string[] | false
  /** Pairs such as `plan=gold`. */
  readonly metadata?: readonly string[] | false
  readonly password?: boolean
}

type Traits = Omit<ConsumerRecord, 'id' | 'keys'>
/** Changed settings; undefined removes one, because JSON omits it. */
type TraitChanges = { [Name in keyof Traits]?: Traits[Name] | undefined }

/** Adds a consumer. Its password is read from stdin. */
export async function addConsumer(options: TraitOptions, id: string): Promise<void> {
  const added = { id: id.normalize('NFC'), ...(await traitsOf(options)) } as ConsumerRecord
  changeConsumers(options.file, (consumers) => {
    if (consumers.some((consumer) => consumer.id === added.id))
      throw new Failure(`${options.file} already has a consumer '${id}'; use gw consumer set to change it`)
    return [...consumers, added]
  })
  say(`added the consumer '${id}' to ${options.file}`)
}

/** Changes the given settings of a consumer. Others, such as its keys, stay. */
export async function setConsumer(options: TraitOptions, id: string): Promise<void> {
  const { file } = options
  // Checked before asking for the password.
  consumerIn(file, readConsumers(file), id)
  const changes = await traitsOf(options)
  if (Object.keys(changes).length === 0)
    throw usageError('specify what to change, for example --group gold or --no-scope')
  changeConsumers(file, (consumers) => {
    const found = consumerIn(file, consumers, id)
    const changed = { ...found, ...changes } as ConsumerRecord
    return consumers.map((consumer) => (consumer === found ? changed : consumer))
  })
  say(`changed the consumer '${id}'; gateways that read the file use it within a second`)
}

/** Removes a consumer with its keys and password. */
export function removeConsumer({ file }: FileOptions, id: string): void {
  changeConsumers(file, (consumers) => {
    const found = consumerIn(file, consumers, id)
    return consumers.filter((consumer) => consumer !== found)
  })
  say(`removed the consumer '${id}'; gateways reject it once they have reloaded the file`)
}

/** Lists consumers, without hashes. */
export async function listConsumers({ file, output }: FileOptions & OutputOptions): Promise<void> {
  const consumers = readConsumers(file).map(({ keys = [], password, ...rest }) => ({
    ...rest,
    keys: keys.length,
    hasPassword: password !== undefined,
  }))
  const rows = consumers.map(
    ({ id, groups = [], roles = [], scopes = [], metadata = {}, keys, hasPassword }) => [
      id,
      ...[groups, roles, scopes].map((names) => names.join(' ') || '-'),
      Object.entries(metadata)
        .map((pair) => pair.join('='))
        .join(' ') || '-',
      keys,
      hasPassword ? 'yes' : 'no',
    ],
  )
  const headings = ['ID', 'GROUPS', 'ROLES', 'SCOPES', 'METADATA', 'KEYS', 'PASSWORD']
  await printResult({ consumers }, output, () => printTable(headings, rows))
}

async function traitsOf(options: TraitOptions): Promise<TraitChanges> {
  const { name, group, role, scope, metadata, password } = options
  return {
    ...changeOf('name', name),
    ...changeOf('groups', group),
    ...changeOf('roles', role),
    ...changeOf('scopes', scope),
    ...changeOf('metadata', metadata && metadataOf(metadata)),
    ...changeOf('password', password && (await hashedPassword())),
  }
}

function changeOf(member: keyof Traits, value: unknown): TraitChanges {
  return value === undefined ? {} : { [member]: value === false ? undefined : value }
}

function metadataOf(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const equals = text.indexOf('=')
      if (equals < 1)
        throw usageError(`'${text}' is not valid metadata; use for example --metadata plan=gold`)
      return [text.slice(0, equals), text.slice(equals + 1)]
    }),
  )
}

async function hashedPassword(): Promise<string> {
  try {
    const password = await readSecret('password')
    if (password === null) throw new Failure('interrupted')
    return await hashPassword(password)
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(messageOf(error))
  }
}
