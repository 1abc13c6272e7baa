import { isIssue, type PersistPlan, parseRedisUrl } from '@sluice/config'
import { parseDuration } from '@sluice/core'
import { EXIT, Failure, messageOf } from '../failure.js'
import { secretInFile } from '../input/secret-file.js'

/** Where a cache server keeps its values, as it is typed. */
export interface PersistOptions {
  readonly persist?: string
  readonly persistUser?: string
  readonly persistPasswordFile?: string
  readonly persistPrefix: string
  readonly persistTimeout: string
  readonly persistCa?: string
}

/** Null: values end with the server. */
export function readPersist(options: PersistOptions): PersistPlan | null {
  const { persist, persistUser, persistPasswordFile, persistPrefix, persistTimeout, persistCa } = options
  if (persist === undefined) {
    const [more] = Object.entries({ persistUser, persistPasswordFile, persistCa }).filter(
      ([, value]) => value,
    )
    if (more === undefined) return null
    throw new Failure(EXIT.usage, 'the options of Valkey need --persist, its URL')
  }
  const url = parseRedisUrl(persist)
  // What is typed may hold a password: it is not shown.
  if (isIssue(url))
    throw new Failure(
      EXIT.usage,
      `--persist: write redis://HOST:PORT/DATABASE or rediss://; a user and a password have options of their own`,
    )
  return {
    url: persist,
    username: persistUser ?? null,
    password: persistPasswordFile === undefined ? null : secretInFile(persistPasswordFile, 'password file'),
    keyPrefix: persistPrefix,
    timeoutMs: readTimeout(persistTimeout),
    tls: { caFile: persistCa ?? null, serverName: null, insecure: false },
  }
}

function readTimeout(text: string): number {
  try {
    const ms = parseDuration(text)
    if (ms >= 10 && ms <= 10_000) return ms
  } catch (error) {
    throw new Failure(EXIT.usage, `--persist-timeout: ${messageOf(error)}`)
  }
  throw new Failure(EXIT.usage, '--persist-timeout: a duration from 10ms to 10s')
}
