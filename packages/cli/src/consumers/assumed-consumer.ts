import type { PolicyUse } from '@sluice/config'
import { type Consumer, consumerOf } from '@sluice/core'
import { readConsumerEntry } from '@sluice/policies'
import { Failure, messageOf, usageError } from '../output/failure.js'
import { readConsumers } from './edited-file.js'

/** A consumer as defined in a policy or a consumers file. */
interface KnownConsumer {
  readonly id?: string
  readonly name?: string
  readonly groups?: readonly string[]
  readonly roles?: readonly string[]
  readonly scopes?: readonly string[]
  readonly metadata?: Readonly<Record<string, string>>
}

interface Settings {
  readonly keys?: readonly KnownConsumer[]
  readonly users?: readonly KnownConsumer[]
  /** Consumers of mtls, or the file of those of api-key and basic-auth. */
  readonly consumers?: readonly KnownConsumer[] | { readonly file: string }
}

/**
 * Returns the consumer for `--consumer`.
 * @param text id of a consumer that a policy knows, or an object in the format of a consumers file
 * @throws Failure if it is neither
 */
export function assumedConsumer(text: string, policies: readonly PolicyUse[]): Consumer {
  if (text.startsWith('{')) return writtenConsumer(text)
  for (const { use, with: settings } of policies) {
    const found = knownConsumers(settings as Settings).find(({ id, name }) => (id ?? name) === text)
    if (found === undefined) continue
    const { name = text, groups = [], roles = null, scopes = null, metadata } = found
    const claims = metadata === undefined ? null : new Map(Object.entries(metadata))
    return consumerOf(use, text, { name, groups, roles, scopes, claims })
  }
  const remedy = `describe the consumer, for example --consumer '{"id":"ann","groups":["partners"]}'`
  throw new Failure(`no policy of the route knows the consumer '${text}'; ${remedy}`)
}

function knownConsumers({ keys, users, consumers }: Settings): readonly KnownConsumer[] {
  if (consumers !== undefined && 'file' in consumers) return readConsumers(consumers.file)
  return [keys, users, consumers].flatMap((list) => (Array.isArray(list) ? list : []))
}

function writtenConsumer(text: string): Consumer {
  try {
    const { id, name, groups, roles, scopes, metadata } = readConsumerEntry(Buffer.from(text))
    return consumerOf('assumed', id, { name: name ?? id, groups, roles, scopes, claims: metadata })
  } catch (error) {
    throw usageError(`--consumer: ${messageOf(error)}`)
  }
}
