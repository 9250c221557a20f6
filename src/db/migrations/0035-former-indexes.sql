-- Those of 0034 serve in their place.
DROP INDEX deal_tags, deal_related_contacts, deal_custom, product_custom, contact_custom, company_custom, activity_custom;
