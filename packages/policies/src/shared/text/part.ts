/**
 * Literals that a text must contain for a pattern to match: at least one of each group. Literals are lower-case ASCII
 * and match case-insensitively. Empty if the pattern requires no literals.
 */
export type Requirement = readonly (readonly string[])[]

/** Analysis of a part of a pattern: all texts that it matches, or the literals that it requires. */
export interface Part {
  readonly exact: readonly string[] | null
  readonly needs: Requirement
}

/** Maximum number and length of the exact texts of a part. Beyond it, only its required literals are tracked. */
const MAX_EXACT = 256
const MAX_LENGTH = 24
/** Maximum number of literals in a group, and of groups in a pattern. */
const MAX_GROUP = 256
const MAX_GROUPS = 4
/** Minimum length of an additional literal that is worth searching for. */
const RARE_LENGTH = 3

/** Part that matches the empty text. */
export const EMPTY: Part = { exact: [''], needs: [] }
/** Part that may match any text. */
export const ANYTHING: Part = { exact: null, needs: [] }

/** Returns the part for one of several characters. */
export function oneOf(characters: readonly string[]): Part {
  const isKnown = characters.length <= MAX_EXACT && characters.every((one) => one.charCodeAt(0) < 128)
  return isKnown ? { exact: [...new Set(characters.map((one) => one.toLowerCase()))], needs: [] } : ANYTHING
}

/** Returns the part for a sequence of parts. */
export function sequence(parts: readonly Part[]): Part {
  const needs: (readonly string[])[] = []
  let run: readonly string[] = ['']
  let isExact = true
  const flush = (): void => {
    isExact = false
    if (run.every((text) => text !== '')) needs.push(run)
  }
  for (const { exact, needs: inner } of parts) {
    const joined = exact === null ? null : product(run, exact)
    if (joined !== null) run = joined
    else {
      flush()
      needs.push(...inner)
      run = exact ?? ['']
    }
  }
  if (isExact) return { exact: run, needs: [] }
  flush()
  return { exact: null, needs: selected(needs) }
}

/** Returns the part for alternatives. */
export function alternatives(parts: readonly Part[]): Part {
  if (parts.length === 1) return parts[0]!
  const exact = parts.every((part) => part.exact !== null) ? parts.flatMap((part) => part.exact!) : null
  if (exact !== null && exact.length <= MAX_EXACT) return { exact: [...new Set(exact)], needs: [] }
  const groups = parts.map((part) => selected(needsOf(part))[0])
  if (groups.some((group) => group === undefined)) return ANYTHING
  const all = [...new Set(groups.flatMap((group) => group!))]
  return all.length > MAX_GROUP ? ANYTHING : { exact: null, needs: [all] }
}

/** Returns the part for a repetition. */
export function repeated(part: Part, min: number, max: number): Part {
  if (min === 1 && max === 1) return part
  if (min === 0) return part.exact !== null && max === 1 ? alternatives([part, EMPTY]) : ANYTHING
  return { exact: null, needs: needsOf(part) }
}

/** Returns the literals that a part requires on its own. */
export function needsOf({ exact, needs }: Part): Requirement {
  if (exact === null) return needs
  return exact.length === 0 || exact.includes('') ? [] : [exact]
}

function product(left: readonly string[], right: readonly string[]): readonly string[] | null {
  if (left.length * right.length > MAX_EXACT) return null
  const all = left.flatMap((first) => right.map((second) => first + second))
  return all.some((text) => text.length > MAX_LENGTH) ? null : all
}

/** Selects the most distinctive groups: those whose shortest literal is longest. Short literals occur everywhere. */
export function selected(groups: Requirement): Requirement {
  const shortest = (group: readonly string[]): number => Math.min(...group.map((text) => text.length))
  return [...groups]
    .sort((a, b) => shortest(b) - shortest(a) || a.length - b.length)
    .filter((group, i) => i === 0 || (i < MAX_GROUPS && shortest(group) >= RARE_LENGTH))
}
