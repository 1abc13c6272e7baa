/**
 * What a text must hold so that a pattern can be found in it: of each group one literal at least. Literals are ASCII in
 * lower case and are meant without regard to case. Empty: the pattern demands nothing that could be looked for.
 */
export type Requirement = readonly (readonly string[])[]

/** What is known of a part of a pattern: all texts it stands for, or literals without which it is not found. */
export interface Part {
  readonly exact: readonly string[] | null
  readonly needs: Requirement
}

/** Most texts that a part may stand for, and their length, before it is only known by what it needs. */
const MAX_EXACT = 256
const MAX_LENGTH = 24
/** Most literals of a group, and groups of a pattern. */
const MAX_GROUP = 256
const MAX_GROUPS = 4
/** A literal of this length is worth looking for beside another one. */
const RARE_LENGTH = 3

export const EMPTY: Part = { exact: [''], needs: [] }
/** Something that nothing is known of. */
export const ANYTHING: Part = { exact: null, needs: [] }

/** One of some characters. */
export function oneOf(characters: readonly string[]): Part {
  const isKnown = characters.length <= MAX_EXACT && characters.every((one) => one.charCodeAt(0) < 128)
  return isKnown ? { exact: [...new Set(characters.map((one) => one.toLowerCase()))], needs: [] } : ANYTHING
}

/** One part after the other. */
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

/** Either of them. */
export function alternatives(parts: readonly Part[]): Part {
  if (parts.length === 1) return parts[0]!
  const exact = parts.every((part) => part.exact !== null) ? parts.flatMap((part) => part.exact!) : null
  if (exact !== null && exact.length <= MAX_EXACT) return { exact: [...new Set(exact)], needs: [] }
  const groups = parts.map((part) => selected(needsOf(part))[0])
  if (groups.some((group) => group === undefined)) return ANYTHING
  const all = [...new Set(groups.flatMap((group) => group!))]
  return all.length > MAX_GROUP ? ANYTHING : { exact: null, needs: [all] }
}

/** A part so many times. */
export function repeated(part: Part, min: number, max: number): Part {
  if (min === 1 && max === 1) return part
  if (min === 0) return part.exact !== null && max === 1 ? alternatives([part, EMPTY]) : ANYTHING
  return { exact: null, needs: needsOf(part) }
}

/** What a part needs that stands alone. */
export function needsOf({ exact, needs }: Part): Requirement {
  if (exact === null) return needs
  return exact.length === 0 || exact.includes('') ? [] : [exact]
}

function product(left: readonly string[], right: readonly string[]): readonly string[] | null {
  if (left.length * right.length > MAX_EXACT) return null
  const all = left.flatMap((first) => right.map((second) => first + second))
  return all.some((text) => text.length > MAX_LENGTH) ? null : all
}

/** The groups that are rarest by the look of them: those whose shortest literal is longest. Short ones are everywhere. */
export function selected(groups: Requirement): Requirement {
  const shortest = (group: readonly string[]): number => Math.min(...group.map((text) => text.length))
  return [...groups]
    .sort((a, b) => shortest(b) - shortest(a) || a.length - b.length)
    .filter((group, i) => i === 0 || (i < MAX_GROUPS && shortest(group) >= RARE_LENGTH))
}
