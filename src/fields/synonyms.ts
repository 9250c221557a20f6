/**
 * Names of our fields, resources and operators in other systems: Pipedrive, HubSpot, Salesforce, Freshsales
 * and Zoho; and of the commonest fields in German, French and Spanish (synonyms.json). For hints and guesses
 * only; nothing is accepted under these names. Knows no resource.
 */
import synonyms from './synonyms.json' with { type: 'json' }

/** A normalized name, without case, blanks and punctuation: closeDate and close_date match. */
export function bareName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

/** Bare name → our names that it may mean, the likeliest first. The seller's cost means no unit price. */
const meant = new Map<string, string[]>()
for (const [name, words] of [...Object.entries(synonyms.fields), ...Object.entries(synonyms.translated)])
  for (const word of words)
    meant.set(bareName(word), [...new Set([...(meant.get(bareName(word)) ?? []), name])])

/** True if a bare name means the currency of an amount. */
export function isCurrencyName(bare: string): boolean {
  return /currency|währung|devise|moneda|divisa/.test(bare) && !/amount|value|betrag|wert/.test(bare)
}

/** Our names for another system's `name`: of those that a resource has, the first is meant. */
export function ourNames(name: string): readonly string[] {
  return meant.get(bareName(name)) ?? []
}

/** Our name for another system's resource `name`, singular or plural. */
export function ourResource(name: string): string | undefined {
  const bare = bareName(name)
  const isIt = (other: string) => bare === other || bare === pluralOf(other)
  return Object.entries(synonyms.resources).find(([, others]) => others.some(isIt))?.[0]
}

export function pluralOf(name: string): string {
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`
}

/** Our operator for another system's `word`. */
export function ourOperator(word: string): string | undefined {
  const bare = bareName(word.slice(0, 64))
  return Object.entries(synonyms.operators).find(([, words]) => words.includes(bare))?.[0]
}
