import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the dead letters in a spool directory. */
export function deadLetters(dir: string): { record: { id: string }; status: number; reason: string }[] {
  const files = readdirSync(join(dir, 'dead')).map((name) => readFileSync(join(dir, 'dead', name), 'utf8'))
  return files
    .join('')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}
