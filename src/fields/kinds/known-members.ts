/** Checks the members of an object for every kind that takes one: unknown ones and read-only ones. */
import { type Json, pointerStep } from '../../json.ts'
import type { ParseContext } from '../field.ts'
import { suggestion } from '../nearest.ts'
import { bareName } from '../synonyms.ts'

/** False after a problem: an unknown member. */
export function knownMembers(
  input: { [name: string]: Json },
  known: readonly string[],
  context: ParseContext,
  at = '',
): boolean {
  const unknown = Object.keys(input).filter(name => !known.includes(name))
  for (const name of unknown) {
    const usual = () => suggestion(name, known, `It has: ${known.join(', ')}.`)
    context.problem('unknown_field', 'is not a known member', {
      at: `${at}/${pointerStep(name)}`,
      hint: () => meantMember(name, known, input) ?? usual(),
    })
  }
  return unknown.length === 0
}

/** The hint for a member that is named as in another system. */
function meantMember(
  name: string,
  known: readonly string[],
  input: { [name: string]: Json },
): string | undefined {
  const bare = bareName(name.slice(0, 64))
  const ours = known.find(one => !(one in input) && elsewhere[one]?.split(' ').includes(bare))
  return ours && `Did you mean "${ours}"?`
}

/** Our member → its names in other systems, normalized by `bareName`. */
const elsewhere: { readonly [ours: string]: string } = {
  currency: 'currencyid currencyisocode isocode unit',
  value: 'amount total price sum',
  product: 'id productid item itemid sku',
  quantity: 'qty count units',
  unit_price: 'price itemprice listprice amount value cost',
  discount: 'discountpercent discountpercentage discountrate',
  tax: 'taxrate taxpercent vat vatrate',
  from: 'start begin since min startdate',
  to: 'end until max enddate',
  email_type: 'type label kind',
  email_value: 'email address value mail',
  phone_type: 'type label kind',
  phone_number: 'phone number value tel',
  address_line1: 'street street1 line1 address address1 addressline',
  address_line2: 'street2 line2 address2',
  city: 'town locality',
  state: 'region province county',
  country: 'countrycode countryid',
  zipcode: 'zip postalcode postcode postal pincode',
}

/** The warning about a read-only member. */
export const readOnlyMember = 'The member is read-only; what was sent is ignored'

/** Warns of a read-only member that was sent with another value than the stored one (D4). */
export function warnOfReadOnly(context: ParseContext, at: string): void {
  context.warn('read_only', readOnlyMember, at)
}
