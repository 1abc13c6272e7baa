import { parseSize } from '@sluice/core'
import { type DocumentPath, valueAt } from '../document-path.js'
import { isFlaw } from '../flaw.js'
import { isLoopback, parseAddress } from '../grammar/address.js'
import { isCacheToken, longestCachedValue } from '../grammar/cache-bounds.js'
import type { CacheServeDocument } from '../schema/cache-serve.js'
import { checkPemFile } from './file-check.js'
import type { Inspection } from './inspection.js'
import { checkKeyPair } from './key-pair-check.js'

const AT = ['cache', 'serve'] as const
/** The cache server that the supervisor is to run. */
export function checkCacheServer(inspection: Inspection): void {
  const { document, report } = inspection
  const serve = document.cache?.serve
  if (serve === undefined || !report.isSound(AT)) return
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
    message:
      'cache.serve.tls needs cache.url, which says by what name of the certificate the server is called',
    remedy: 'add for example url: https://cache.example.com:9910',
  })
}

/** Others must not read and change what it keeps, and workers have to know its port. */
function checkExposure({ document, whole, report }: Inspection, { listen }: CacheServeDocument): void {
  const address = parseAddress(listen)
  if (isFlaw(address)) return
  const path = [...AT, 'listen']
  if (address.port === 0)
    report.add({
      path,
      message: 'cache.serve.listen has no port that is known beforehand',
      remedy: 'write one, such as 127.0.0.1:9910',
    })
  const hasToken = valueAt(whole, ['cache', 'token']) !== undefined
  if (!hasToken && !isLoopback(address.host))
    report.add({
      path,
      message: `others could read and change the cache at ${report.quote(address.address, path)}, because it asks for no token`,
      remedy: 'add cache.token, or listen on 127.0.0.1',
    })
  const token = document.cache?.token
  const tokenPath = ['cache', 'token']
  if (token !== undefined && report.isSound(tokenPath) && !isCacheToken(token))
    report.add({
      path: tokenPath,
      message: 'the token of a cache server has 16 to 4096 visible ASCII characters',
      remedy: 'write another one, such as openssl rand -hex 32 makes',
    })
}

function checkRoom({ report }: Inspection, { maxBytes, maxObjectBytes, spaces }: CacheServeDocument): void {
  const objectBytes = parseSize(maxObjectBytes)
  const check = (memory: string, path: DocumentPath): void => {
    const longest = longestCachedValue(parseSize(memory))
    if (objectBytes <= longest) return
    report.add({
      path,
      message: `a value of maxObjectBytes (${maxObjectBytes}) does not fit here: ${memory} takes values of ${longest} bytes at most`,
      remedy: `write maxObjectBytes: ${Math.floor(longest / 1024)}kb, or more memory`,
    })
  }
  check(maxBytes, [...AT, 'maxBytes'])
  for (const [name, { max }] of Object.entries(spaces))
    if (max !== undefined) check(max, [...AT, 'spaces', name, 'max'])
}
