import { isIssue, type PersistPlan, parseRedisUrl } from '@sluice/config'
import { parseDuration } from '@sluice/core'
import { secretInFile } from '../input/secret.js'
import { messageOf, usageError } from '../output/failure.js'

/** Command line options for persistence. */
export interface PersistOptions {
  readonly persist?: string
  readonly persistUser?: string
  readonly persistPasswordFile?: string
  readonly persistPrefix: string
  readonly persistTimeout: string
  readonly persistCa?: string
}

/** Reads the persistence options, or returns null without `--persist`. */
export function readPersist(options: PersistOptions): PersistPlan | null {
  const { persist, persistUser, persistPasswordFile, persistPrefix, persistTimeout, persistCa } = options
  if (persist === undefined) {
    const [more] = Object.entries({ persistUser, persistPasswordFile, persistCa }).filter(
      ([, value]) => value,
    )
    if (more === undefined) return null
    throw usageError('the --persist-* options require --persist')
  }
  const url = parseRedisUrl(persist)
  // The URL may contain a password, so it is not shown.
  if (isIssue(url))
    throw usageError(
      `--persist: use redis://HOST:PORT/DATABASE or rediss://; for credentials use --persist-user and --persist-password-file`,
    )
  return {
    url: persist,
    username: persistUser ?? null,
    password: persistPasswordFile === undefined ? null : secretInFile(persistPasswordFile, 'password file'),
    keyPrefix: persistPrefix,
    timeoutMs: readTimeout(persistTimeout),
    tls: { caFile: persistCa ?? null, servername: null, insecure: false },
  }
}

function readTimeout(text: string): number {
  try {
    const ms = parseDuration(text)
    if (ms >= 10 && ms <= 10_000) return ms
  } catch (error) {
    throw usageError(`--persist-timeout: ${messageOf(error)}`)
  }
  throw usageError('--persist-timeout: use a duration from 10ms to 10s')
}
