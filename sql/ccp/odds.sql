-- needs: ccp/cards.sql, ccp/defense.sql
-- Chances in ccp: over two plain dice, all 36 pairs alike, or over the cards left in a pile that a game keeps: O27.2.3, O27.3.3, O27.3.4, 3.3.4, 19.2.2.
--
-- Dice alone are counted: what a trigger on the way would change is not.

drop type if exists ccp.chance cascade;
create type ccp.chance as (
  unit text,
  result text,
  ways numeric,
  of_all numeric
);

comment on type ccp.chance is
'In how many ways a result comes, of all; where it is the fate of a unit, whose.';

create or replace function ccp._falls(position_id bigint, side text)
returns table (sum integer, product integer, ways bigint)
language sql stable rows 21
as $$
  with kept as materialized (
    select
      position.tracks -> 'pile' -> _falls.side as pile,
      position.tracks -> 'next_card' ->> _falls.side as known
    from public.position
    where position.id = _falls.position_id
  ),
  fall as (
    select white.n as white, coloured.n as coloured
    from kept
    cross join generate_series(1, 6) as white (n)
    cross join generate_series(1, 6) as coloured (n)
    where kept.pile is null
    union all
    select (card.says ->> 'white')::integer, (card.says ->> 'coloured')::integer
    from kept
    cross join lateral jsonb_array_elements_text(kept.pile) as lying (name)
    cross join lateral ccp.fate_card(lying.name) as card (says)
    where kept.known is null or lying.name = kept.known
  )
  select fall.white + fall.coloured, fall.white * fall.coloured, count(*)
  from fall
  where fall.white is not null and fall.coloured is not null
  group by fall.white + fall.coloured, fall.white * fall.coloured
$$;

comment on function ccp._falls(bigint, text) is
'How the dice of a side fall, added and multiplied: 36 pairs, or the cards in its pile where a game keeps one; the top card
alone where it is known (1.9, O30).';

create or replace function ccp.targeting_odds(position_id bigint, side text, at_least integer)
returns setof ccp.chance
language sql stable rows 2
as $$
  select null, hit.result, sum(fall.ways), sum(sum(fall.ways)) over ()
  from ccp._falls(targeting_odds.position_id, targeting_odds.side) as fall
  cross join lateral (select case when fall.product >= at_least then 'hit' else 'miss' end as result) as hit
  group by hit.result
  order by hit.result
$$;

comment on function ccp.targeting_odds(bigint, text, integer) is
'How often a Targeting roll of a side hits, where the product must be at least so much (O27.2.3).';

create or replace function ccp.sum_odds(position_id bigint, side text, below integer default null)
returns setof ccp.chance
language sql stable rows 11
as $$
  select null, roll.result, sum(fall.ways), sum(sum(fall.ways)) over ()
  from ccp._falls(sum_odds.position_id, sum_odds.side) as fall
  cross join lateral (
    select case when below is null then fall.sum::text when fall.sum < below then 'ends' else 'goes_on' end as result
  ) as roll
  group by roll.result
  order by roll.result
$$;

comment on function ccp.sum_odds(bigint, text, integer) is
'How often a roll of a side comes to each sum; or whether it is below the space of the time marker (1.9, 13.2.2).';

create or replace function ccp.melee_odds(position_id bigint, japan integer, allied integer, japanese_total integer)
returns setof ccp.chance
language sql stable rows 3
as $$
  with first as (
    select melee_odds.japanese_total as total, 1::bigint as ways
    where melee_odds.japanese_total is not null
    union all
    select melee_odds.japan + fall.sum, fall.ways
    from ccp._falls(melee_odds.position_id, 'japan') as fall
    where melee_odds.japanese_total is null
  )
  select null, found.result, sum(first.ways * fall.ways), sum(sum(first.ways * fall.ways)) over ()
  from first
  cross join ccp._falls(melee_odds.position_id, 'allied') as fall
  cross join lateral (
    select case sign(first.total - melee_odds.allied - fall.sum) when 1 then 'japan' when -1 then 'allied' else 'tie' end
      as result
  ) as found
  group by found.result
  order by found.result
$$;

comment on function ccp.melee_odds(bigint, integer, integer, integer) is
'Who has the higher Melee Total, by the Melee FP of both, or by the Japanese total where that roll is made (19.2.2).';

-- Several units that roll one after another.

drop type if exists ccp.stake cascade;
create type ccp.stake as (
  code text,
  side text,
  morale integer,
  on_tie text,
  follows boolean,
  command integer,
  figures integer,
  broken boolean
);

comment on type ccp.stake is
'A unit that is to roll: what it defends with now, and what its loss takes from those who roll after it.';

create or replace function ccp._stakes(state positions.state, units text[], said jsonb)
returns setof ccp.stake
language sql stable rows 3
as $$
  select
    stat.code,
    stat.side,
    (step.facts ->> 'morale')::integer,
    step.facts ->> 'tie',
    stat.follows,
    coalesce(stat.command, 0),
    ccp._figures(stat.kind),
    coalesce((stat.attributes ->> 'broken')::boolean, false)
  from unnest(_stakes.units) with ordinality as wanted (code, n)
  inner join ccp._stats(state) as stat on stat.code = wanted.code
  cross join lateral ccp.defense(
    state.position_id, stat.code, _stakes.said -> stat.code, state.conditions, state.readings
  ) as step
  where step.facts is not null
  order by wanted.n
$$;

comment on function ccp._stakes(positions.state, text[], jsonb) is
'Units of an attack in the order in which they roll; `said` has for each what its Defense is told (O27.3.4).';

drop type if exists ccp.fray cascade;
create type ccp.fray as (
  against integer,
  command integer,
  figures integer,
  used integer array,
  ways numeric
);

comment on type ccp.fray is
'How an attack may stand before the next unit rolls: the Attack Total, command and figures lost, sums drawn off a pile.';

create or replace function ccp._fates(state positions.state, frays ccp.fray[], stake ccp.stake, over integer, lightens boolean)
returns table (result text, fray ccp.fray)
language sql stable rows 50
as $$
  select
    found.result,
    row(
      fray.against,
      fray.command + case
        when found.result = 'eliminated' or (found.result = 'breaks' and state.readings ->> 'ccp-29' = 'a') or
        (found.result = 'breaks' and stake.broken) then stake.command else 0
      end,
      fray.figures + case
        when found.result = 'eliminated' or (found.result = 'breaks' and stake.broken) then stake.figures else 0
      end,
      case when kept.pile then array(select one from unnest(fray.used || fall.sum) as one order by one) end,
      fray.ways * left_.ways
    )::ccp.fray
  from unnest(frays) as fray
  cross join (
    select fall.sum, sum(fall.ways) as ways
    from ccp._falls(state.position_id, stake.side) as fall
    group by fall.sum
  ) as fall
  cross join (
    select position.tracks -> 'pile' -> stake.side is not null as pile
    from public.position
    where position.id = state.position_id
  ) as kept
  cross join lateral (
    select fall.ways - (select count(*) from unnest(fray.used) as one where one = fall.sum) as ways
  ) as left_
  cross join lateral (
    select
      stake.morale + fall.sum
      - case when stake.follows then fray.command else 0 end
      + case when lightens then greatest(0, over) - greatest(0, over - fray.figures) else 0 end as total
  ) as defense
  cross join lateral (
    select step.effect as result
    from ccp.defense_result(stake.code, null, fray.against, defense.total, 0, stake.on_tie) as step
  ) as found
  where left_.ways > 0
$$;

comment on function ccp._fates(positions.state, ccp.fray[], ccp.stake, integer, boolean) is
'What may come of a unit''s Defense roll, and how the attack stands then: a leader who breaks commands no more, who is
eliminated stands in nobody''s way (3.3.1.2, 15.2.2, O27.3.4).';

create or replace function ccp.attack_odds(
  position_id bigint, units text[], said jsonb, conditions jsonb default null, policy jsonb default null
)
returns setof ccp.chance
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  stakes ccp.stake[];
  stake ccp.stake;
  frays ccp.fray[];
  over integer;
  lightens boolean;
  source text := said ->> 'source';
begin
  select * into state from positions.state(attack_odds.position_id, attack_odds.conditions, attack_odds.policy);
  stakes := array(select one from ccp._stakes(state, attack_odds.units, said -> 'units') as one);
  if exists (select from unnest(stakes) as one where one.morale is null or one.side = said ->> 'side') then
    return;
  end if;
  over := (
    select sum(ccp._figures(stat.kind)) - 7
    from ccp._stats(state) as stat
    where (stat.q, stat.r) = (select other.q, other.r from ccp._stats(state) as other where other.code = units[1])
  );
  lightens := case
    when source in ('flamethrower', 'mines') then state.readings ->> 'ccp-16' = 'b'
    else state.readings ->> 'ccp-42' = 'a'
  end;
  frays := array(
    select row(coalesce((said ->> 'attack')::integer, roll.total), 0, 0, '{}', sum(roll.ways))::ccp.fray
    from (
      select (said ->> 'value')::integer + case when (said ->> 'multiplied')::boolean then fall.product else fall.sum end
        as total, fall.ways
      from ccp._falls(state.position_id, said ->> 'side') as fall
      where said ->> 'attack' is null
      union all
      select null, 1
      where said ->> 'attack' is not null
    ) as roll
    group by roll.total
  );
  foreach stake in array stakes loop
    return query
    select stake.code, fate.result, sum((fate.fray).ways), sum(sum((fate.fray).ways)) over ()
    from ccp._fates(state, frays, stake, over, lightens) as fate
    group by fate.result
    order by fate.result;
    frays := array(
      select row((fate.fray).against, (fate.fray).command, (fate.fray).figures, (fate.fray).used, sum((fate.fray).ways))::ccp.fray
      from ccp._fates(state, frays, stake, over, lightens) as fate
      group by (fate.fray).against, (fate.fray).command, (fate.fray).figures, (fate.fray).used
    );
  end loop;
end
$$;

comment on function ccp.attack_odds(bigint, text[], jsonb, jsonb, jsonb) is
'How each of some units fares, in the order in which they roll, against an Attack Total, or an FP whose roll is still to
come; no row where a morale is not told, or the attacker''s own units roll. `said` has side, source, value, attack,
multiplied, units (O27.3.4).';
