-- Chances in ccp over two plain dice, all 36 pairs alike: O27.2.3, O27.3.3, O27.3.4, 3.3.4, 19.2.2.
--
-- The cards of the Fate decks are not printed; whoever imports his has better odds.

create or replace function ccp._pairs()
returns table (sum integer, product integer)
language sql immutable parallel safe rows 36
as $$
  select white.n + coloured.n, white.n * coloured.n
  from generate_series(1, 6) as white (n)
  cross join generate_series(1, 6) as coloured (n)
$$;

comment on function ccp._pairs() is
'The ways in which two dice fall: added and multiplied (1.9).';

create or replace function ccp.targeting_odds(at_least integer)
returns table (result text, ways bigint, of_all bigint)
language sql immutable parallel safe rows 2
as $$
  select hit.result, count(*), 36::bigint
  from ccp._pairs() as fall
  cross join lateral (select case when fall.product >= at_least then 'hit' else 'miss' end as result) as hit
  group by hit.result
  order by hit.result
$$;

comment on function ccp.targeting_odds(integer) is
'How many of the 36 pairs hit where the product must be at least so much (O27.2.3).';

create or replace function ccp.defense_odds(
  attack integer, value integer, multiplied boolean, morale integer, on_tie text
)
returns table (result text, ways bigint, of_all bigint)
language sql immutable parallel safe rows 4
as $$
  with total as (
    select defense_odds.attack as against, 1::bigint as ways
    where defense_odds.attack is not null
    union all
    select value + case when multiplied then fall.product else fall.sum end, count(*)
    from ccp._pairs() as fall
    where defense_odds.attack is null
    group by 1
  )
  select found.result, sum(total.ways)::bigint, (sum(sum(total.ways)) over ())::bigint
  from total
  cross join ccp._pairs() as fall
  cross join lateral (select morale + fall.sum as defense) as roll
  cross join lateral (
    select case
      when 2 * roll.defense <= total.against then 'eliminated'
      when roll.defense < total.against then 'breaks'
      when roll.defense = total.against then on_tie
      else 'none'
    end as result
  ) as found
  group by found.result
  order by found.result
$$;

comment on function ccp.defense_odds(integer, integer, boolean, integer, text) is
'How a unit of some morale fares against an Attack Total, or against an FP whose roll is still to come (O27.3.4).';

create or replace function ccp.melee_odds(japan integer, allied integer, japanese_total integer)
returns table (result text, ways bigint, of_all bigint)
language sql immutable parallel safe rows 3
as $$
  with first as (
    select melee_odds.japanese_total as total, 1::bigint as ways
    where melee_odds.japanese_total is not null
    union all
    select melee_odds.japan + fall.sum, count(*)
    from ccp._pairs() as fall
    where melee_odds.japanese_total is null
    group by 1
  )
  select found.result, sum(first.ways)::bigint, (sum(sum(first.ways)) over ())::bigint
  from first
  cross join ccp._pairs() as fall
  cross join lateral (
    select case sign(first.total - melee_odds.allied - fall.sum) when 1 then 'japan' when -1 then 'allied' else 'tie' end
      as result
  ) as found
  group by found.result
  order by found.result
$$;

comment on function ccp.melee_odds(integer, integer, integer) is
'Who has the higher Melee Total, by the Melee FP of both, or by the Japanese total where that roll is made (19.2.2).';
