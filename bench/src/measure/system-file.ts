import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The text of a file of the kernel, without the space around it; null: it is not there. `root` is `/` but in tests. */
export function systemText(file: string, root = '/'): string | null {
  try {
    return readFileSync(join(root, file), 'utf8').trim()
  } catch {
    return null
  }
}
