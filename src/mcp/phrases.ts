/** Words between a field and a value, and what they mean as operators of lists. Pure. */
import type { Operator } from '../../client/src/filter.ts'

/** A text with single blanks between its words: patterns of words then take a time like its length. */
export function singleBlanks(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}

/** Words → what they mean, null for nothing that lists can ask; the first that matches counts. */
export const phrases: readonly {
  readonly words: RegExp
  readonly operator: Operator | 'unlike' | 'older' | 'newer' | 'from' | null
}[] = [
  { words: /^((is|are|does|do) )?(not )?(start|begin|end)\w* with\b/, operator: null },
  {
    words: /^(is |are |was |were )?(not (empty|set|blank|null|known)|set|known|present)$|^has a value$/,
    operator: 'notnull',
  },
  {
    words: /^(is |are |was |were )?(empty|unset|blank|null|none|unknown|missing)$|^has no value$/,
    operator: 'isnull',
  },
  { words: /^(is |are |was |were )?older than\b/, operator: 'older' },
  { words: /^(is |are |was |were )?newer than\b/, operator: 'newer' },
  // More days ago is earlier.
  { words: /^(is |are |was |were )?(more than|over)\b(?=.* ago$)/, operator: 'older' },
  { words: /^(is |are |was |were )?(less than|under)\b(?=.* ago$)/, operator: 'newer' },
  { words: /^(is |are |was |were )?at least\b(?=.* ago$)/, operator: 'lte' },
  { words: /^(is |are |was |were )?at most\b(?=.* ago$)/, operator: 'gte' },
  {
    words: /^(is |are |does |do )?not (contain|includ|mention|ha[sv]|like)(s|es?|ing)?\b/,
    operator: 'unlike',
  },
  {
    words: /^((is |are |was |were )?(contains?|containing|includ(es?|ing)|mention(s|ing)?|like)|has|~)(?!\w)/,
    operator: 'like',
  },
  { words: /^((is |are |was |were )?(not one of|none of|not in)|nin)\b/, operator: 'nin' },
  { words: /^((is |are |was |were )?(one of|any of|either)|in)\b/, operator: 'in' },
  { words: /^((is |are |was |were )?(within|between))\b/, operator: 'between' },
  { words: /^(is |are |was |were )?from\b/, operator: 'from' },
  { words: /^(>=|≥|(is |are |was |were )?(at least|on or after|since|not before)\b|gte\b)/, operator: 'gte' },
  {
    words: /^(<=|≤|(is |are |was |were )?(at most|on or before|up to|until|by|not after)\b|lte\b)/,
    operator: 'lte',
  },
  {
    words:
      /^(>|(is |are |was |were )?(more than|greater than|larger than|over|above|after|later than)\b|gt\b)/,
    operator: 'gt',
  },
  {
    words: /^(<(?!>)|(is |are |was |were )?(less than|smaller than|under|below|before|earlier than)\b|lt\b)/,
    operator: 'lt',
  },
  {
    words: /^(!=|<>|≠|((is |are |was |were )?not( equal( to)?)?|(does|do) not equal( to)?|neq)\b)/,
    operator: 'neq',
  },
  {
    words: /^(==?|:|((is |are |was |were )?equal to|equals( to)?|is|are|eq|on|was|were)\b)/,
    operator: 'eq',
  },
]
