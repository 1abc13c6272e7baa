import { type FaultKind, SCRIPT_NAME, ScriptFault } from './engine.js'

interface Thrown {
  readonly name: string
  readonly message: string
  readonly stack: string
  readonly isBody: boolean
}

/** Returns the changes in an answer of the sandbox. @throws ScriptFault for an exception of the script */
export function answerText(answer: string): string {
  if (answer.startsWith('=')) return answer.slice(1)
  if (answer.startsWith('!')) throw faultOf(JSON.parse(answer.slice(1)) as Thrown)
  throw new ScriptFault('promise', 'the script waits for a promise that never settles')
}

/** Creates a fault, with the line of the script if the stack has one. */
export function faultOf({ name, message, stack, isBody }: Thrown): ScriptFault {
  const text = name === '' ? message : `${name}: ${message}`
  return new ScriptFault(kindOf(message, isBody), `${text}${locationIn(stack)}`)
}

/**
 * Classifies an error. Both engines report memory and stack exhaustion as ordinary errors, so only the text
 * tells.
 */
function kindOf(message: string, isBody: boolean): FaultKind {
  if (isBody) return 'body'
  if (message === 'out of memory') return 'memory'
  return message === 'stack overflow' || message === 'Maximum call stack size exceeded'
    ? 'stack'
    : 'exception'
}

const LOCATION = new RegExp(`${SCRIPT_NAME}:(\\d{1,9}):(\\d{1,9})`)

function locationIn(stack: string): string {
  const found = LOCATION.exec(stack)
  return found === null ? '' : ` (line ${found[1]}, column ${found[2]})`
}
