import { parseSize } from '@sluice/core'
import { type DocumentPath, valueAt } from '../diagnostic/document-path.js'
import { isIssue } from '../diagnostic/issue.js'
import { isLoopback, parseAddress } from '../grammar/address.js'
import { isCacheToken, longestCachedValue } from '../grammar/cache-bounds.js'
import type { CacheServeDocument } from '../schema/cache-serve.js'
import { checkPemFile } from './file-check.js'
import type { Inspection } from './inspection.js'
import { checkKeyPair } from './key-pair-check.js'

const AT = ['cache', 'serve'] as const
/** Checks the cache server that the supervisor runs. */
export function checkCacheServer(inspection: Inspection): void {
  const { document, report } = inspection
  const serve = document.cache?.serve
  if (serve === undefined || !report.isValid(AT)) return
  checkExposure(inspection, serve)
  checkRoom(inspection, serve)
  const caFile = serve.persist?.tls.caFile
  if (caFile !== undefined) checkPemFile(inspection, caFile, [...AT, 'persist', 'tls', 'caFile'])
  if (serve.tls === undefined) return
  checkKeyPair(inspection, serve.tls, [...AT, 'tls'])
  if (document.cache?.url !== undefined) return
  report.add({
    path: [...AT, 'tls'],
    at: 'key',
    message: 'cache.serve.tls needs cache.url with a host name of the certificate',
    remedy: 'add for example url: https://cache.example.com:9910',
  })
}

/**
 * Checks that the cache server has a token unless it is on loopback, and a fixed port that workers can
 * connect to.
 */
function checkExposure({ document, whole, report }: Inspection, { listen }: CacheServeDocument): void {
  const address = parseAddress(listen)
  if (isIssue(address)) return
  const path = [...AT, 'listen']
  if (address.port === 0)
    report.add({
      path,
      message: 'cache.serve.listen needs a fixed port',
      remedy: 'write for example 127.0.0.1:9910',
    })
  const hasToken = valueAt(whole, ['cache', 'token']) !== undefined
  if (!hasToken && !isLoopback(address.host))
    report.add({
      path,
      message: `the cache server at ${report.quote(address.address, path)} can be reached from other machines without a token`,
      remedy: 'add cache.token, or listen on 127.0.0.1',
    })
  const token = document.cache?.token
  const tokenPath = ['cache', 'token']
  if (token !== undefined && report.isValid(tokenPath) && !isCacheToken(token))
    report.add({
      path: tokenPath,
      message: 'the token of a cache server must have 16 to 4096 visible ASCII characters',
      remedy: 'generate one, for example with openssl rand -hex 32',
    })
}

function checkRoom({ report }: Inspection, { maxBytes, maxObjectBytes, spaces }: CacheServeDocument): void {
  const objectBytes = parseSize(maxObjectBytes)
  const check = (memory: string, path: DocumentPath): void => {
    const longest = longestCachedValue(parseSize(memory))
    if (objectBytes <= longest) return
    report.add({
      path,
      message: `maxObjectBytes (${maxObjectBytes}) is too large: with ${memory} of memory, values can have at most ${longest} bytes`,
      remedy: `write maxObjectBytes: ${Math.floor(longest / 1024)}kb, or increase the memory`,
    })
  }
  check(maxBytes, [...AT, 'maxBytes'])
  for (const [name, { maxBytes: own }] of Object.entries(spaces))
    if (own !== undefined) check(own, [...AT, 'spaces', name, 'maxBytes'])
}
