import { InvalidArgumentError } from 'commander'
import { wholeNumber } from './building.js'

/** Reads numbers with commas between them, each between two bounds; sorted, each once. */
export function numberList(least: number, most: number): (text: string) => number[] {
  const read = wholeNumber(least, most)
  return (text) => [...new Set(text.split(',').map((part) => read(part.trim())))].sort((a, b) => a - b)
}

/** Reads names with commas between them, each one of these; may be given several times. */
export function nameList<N extends string>(
  known: readonly N[],
): (text: string, before?: readonly N[]) => N[] {
  return (text, before = []) => {
    const names = text.split(',').map((part) => {
      const name = known.find((one) => one === part.trim())
      if (name !== undefined) return name
      throw new InvalidArgumentError(`allowed choices are ${known.join(', ')}, with commas between them`)
    })
    return [...new Set([...before, ...names])]
  }
}
