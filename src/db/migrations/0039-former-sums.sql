-- That of 0038 serves in its place.
DROP INDEX deal_sums;
