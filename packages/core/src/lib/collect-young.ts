import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: ((options: { readonly type: 'minor' }) => void) | null = null

/**
 * Collects the young generation. V8 does so only when it is full. If most of its 16 MB are still in use, as while a large
 * plan is compiled, copying them takes up to 20 ms.
 */
export function collectYoung(): void {
  collect ??= exposedCollector()
  collect({ type: 'minor' })
}

function exposedCollector(): NonNullable<typeof collect> {
  setFlagsFromString('--expose-gc')
  try {
    return runInNewContext('gc')
  } finally {
    setFlagsFromString('--no-expose-gc') // later contexts, such as those of plugins, must not have it
  }
}
