import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder } from '../elasticsearch/place.mjs'

export const POM = join(dirname(fileURLToPath(import.meta.url)), 'pom.xml')

/** The folder with WSS4J and what it needs. Another list of what to fetch makes another folder. */
export function wss4jHome() {
  const digest = createHash('sha256').update(readFileSync(POM)).digest('hex')
  return join(cacheFolder(), `wss4j-${digest.slice(0, 12)}`)
}

/** The folder gets its name when it is complete. */
export function isInstalled(home) {
  return existsSync(home)
}
