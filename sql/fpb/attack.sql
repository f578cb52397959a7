-- needs: fpb/combat.sql, fpb/costs.sql, fpb/caves.sql, fpb/support.sql
-- Attacks and bombardments in fpb (Forgotten Pacific Battles): who may, and the sums of both sides: 4.1, 7.2, 8.0 to 8.2.4, 12.1, 12.3, 14.0 to 16.2.2, 17.1, 18.1.
--
-- The ledger counts for the attacker: what strengthens the defense is negative. Its last row has strengths,
-- differential, line and column, or what stands against the attack.

drop type if exists fpb.combat cascade;
create type fpb.combat as (
  side text,
  q integer,
  r integer,
  label text,
  terrain text,
  features text array,
  attackers positions.counter array,
  defenders positions.counter array,
  phase text,
  banzai boolean,
  bombardment boolean,
  boat boolean,
  reef boolean,
  assault boolean
);

comment on type fpb.combat is
'An attack or a bombardment as it is declared: whose, on which hex, by whom and upon whom.';
comment on column fpb.combat.boat is 'Whether an assault boat is in the hex (12.0)';
comment on column fpb.combat.reef is 'Whether it is an empty reef, which an assault attacks like a unit (12.3)';
comment on column fpb.combat.assault is 'Whether an attacker comes from the sea (12.1)';

create or replace function fpb._is_afloat(state positions.state, unit positions.counter)
returns boolean
language sql stable parallel safe
return unit.attributes ? 'assaulting' or exists (
  select
  from public.hex
  where hex.map_id = state.map_id
    and hex.q = unit.q
    and hex.r = unit.r
    and fpb._all_sea(hex.terrain, hex.features)
);

comment on function fpb._is_afloat(positions.state, positions.counter) is
'Whether a unit waits in the sea to assault (12.0).';

create or replace function fpb._combat(state positions.state, by text[], at text, side text, banzai boolean)
returns fpb.combat
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  combat fpb.combat;
  target record;
  named text;
begin
  select hex.q, hex.r, hex.label, hex.terrain, hex.features, place.unit into target
  from positions.place(state.position_id, at) as place
  inner join public.hex on hex.map_id = state.map_id and hex.q = place.q and hex.r = place.r;
  if not found then
    raise exception 'no hex or unit % on the map of this position', at using errcode = 'no_data_found';
  end if;
  foreach named in array by loop
    combat.attackers := combat.attackers || positions._asked_counter(state.position_id, named);
  end loop;
  combat.bombardment := cardinality(by) = 0;
  combat.q := target.q;
  combat.r := target.r;
  combat.label := target.label;
  combat.terrain := target.terrain;
  combat.features := target.features;
  combat.phase := state.conditions ->> 'phase';
  combat.banzai := banzai;
  combat.side := coalesce(side, combat.attackers[1].side, state.conditions ->> 'active', (
    -- 8.0: whoever is not there attacks
    select case min(unit.side) when 'us' then 'japan' else 'us' end
    from fpb._units(state) as unit
    where unit.q = target.q and unit.r = target.r
  ));
  combat.defenders := array(
    select unit
    from fpb._units(state) as unit
    where unit.q = target.q
      and unit.r = target.r
      and unit.side <> combat.side
      -- fpb-36 c: one of two that was named
      and (state.readings ->> 'fpb-36' <> 'c' or target.unit is null or unit.id = target.unit)
    order by unit.code collate "C"
  );
  combat.boat := exists (
    select
    from public.marker
    where marker.position_id = state.position_id
      and marker.kind = 'assault_boat'
      and marker.q = target.q
      and marker.r = target.r
  );
  combat.assault := coalesce(
    (select bool_or(fpb._is_afloat(state, attacker)) from unnest(combat.attackers) as attacker), false
  );
  combat.reef := cardinality(combat.defenders) = 0 and combat.boat and combat.assault
    and (target.terrain = 'reef' or 'reef' = any(target.features));
  return combat;
end
$$;

comment on function fpb._combat(positions.state, text[], text, text, boolean) is
'An attack by these units, or without any a bombardment, upon the enemies in a hex.';

create or replace function fpb._target_steps(state positions.state, combat fpb.combat)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  select entry.rule, null, combat.label, entry.effect, entry.note, entry.point, null, null::integer, null::jsonb
  from (
    values
    (
      1, state.conditions ->> 'active' <> combat.side,
      '8.0', 'forbids', 'the side whose player turn it is attacks', null
    ),
    (
      2, not combat.bombardment and combat.phase not in ('combat', 'mobile_combat'),
      '8.0', 'forbids', 'units attack in combat phases alone', null
    ),
    (
      3, combat.bombardment and combat.phase <> 'bombardment',
      '8.1', 'forbids', 'hexes are bombarded in the Bombardment Phase alone', null
    ),
    (
      4, not combat.bombardment and fpb._all_sea(combat.terrain, combat.features),
      '8.2', 'forbids', 'the open sea is prohibited', null
    ),
    (
      5, cardinality(combat.defenders) = 0 and not combat.reef,
      '8.0', 'forbids', 'there is no enemy', null
    ),
    (
      6,
      exists (
        select from unnest(combat.defenders) as defender where defender.attributes -> 'hit' ? combat.phase
      ),
      '8.0', 'forbids', 'it was attacked in this phase already', null
    ),
    (
      7, combat.reef, case state.readings ->> 'fpb-21' when 'b' then '12.0' else '12.3' end,
      case state.readings ->> 'fpb-21' when 'b' then 'forbids' else 'counts' end,
      case state.readings ->> 'fpb-21'
        when 'b' then 'nobody holds the reef, so it is a landing beach' else 'an empty reef defends with 0'
      end,
      'fpb-21'
    ),
    (
      8, cardinality(combat.defenders) > 1, '10.6', 'together', 'two units are in the hex', 'fpb-36'
    ),
    (
      9,
      combat.bombardment and combat.side = 'japan' and state.conditions ->> 'mode' = 'solitaire',
      '16.2.2', 'forbids', 'Japanese markers do not bombard in solitaire play', null
    ),
    (
      10,
      cardinality(combat.defenders) = 1 and state.readings ->> 'fpb-36' = 'c' and exists (
        select
        from fpb._units(state) as other
        where other.q = combat.q and other.r = combat.r and other.id <> combat.defenders[1].id
      ),
      '10.6', 'alone', 'of two units one is the target', 'fpb-36'
    )
  ) as entry (n, speaks, rule, effect, note, point)
  where entry.speaks
  order by entry.n
$$;

comment on function fpb._target_steps(positions.state, fpb.combat) is
'Whether the hex may be attacked by this side now (8.0, 8.1, 8.2, 12.3, 16.2.2).';

create or replace function fpb._prohibited_to(state positions.state, unit positions.counter, combat fpb.combat)
returns boolean
language sql stable
as $$
  select coalesce(bool_or(key.word = 'prohibited'), false)
    and not exists (
      -- 5.4.1, 5.4.2: along a road or trail it may enter
      select
      from public.path
      cross join lateral generate_series(1, cardinality(path.qs) - 1) as link (n)
      where path.map_id = state.map_id
        and path.qs[link.n] + path.qs[link.n + 1] = unit.q + combat.q
        and path.rs[link.n] + path.rs[link.n + 1] = unit.r + combat.r
    )
  from fpb._terrains(combat.terrain, combat.features) as shown (code)
  inner join fpb._terrain_key(coalesce(unit.attributes ->> 'mobility', 'leg')) as key on key.name = shown.code
$$;

comment on function fpb._prohibited_to(positions.state, positions.counter, fpb.combat) is
'Whether the Terrain Key closes the attacked hex to a unit, which then cannot attack into it (8.2).';

create or replace function fpb._attacker_steps(state positions.state, combat fpb.combat)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  select entry.rule, null, unit.label, entry.effect, format(entry.note, unit.code), entry.point, unit.code,
    null::integer, null::jsonb
  from (
    select
      attacker.n,
      attacker.code,
      attacker.side,
      attacker.kind,
      attacker.label,
      attacker.attributes as said,
      attacker.q is null as absent,
      coalesce(lattice.distance(attacker.q, attacker.r, combat.q, combat.r) = 1, false) as adjacent,
      coalesce(attacker.attributes ->> 'mobility' = 'mobile', false) as mobile,
      fpb._is_afloat(state, here) as afloat,
      fpb._prohibited_to(state, here, combat) as shut
    from unnest(combat.attackers) with ordinality
      as attacker (position_id, map_id, id, code, side, kind, q, r, label, attributes, n)
    cross join lateral (
      select row(attacker.position_id, attacker.map_id, attacker.id, attacker.code, attacker.side, attacker.kind,
        attacker.q, attacker.r, attacker.label, attacker.attributes)::positions.counter as here
    ) as whole
  ) as unit
  cross join lateral (
    values
    (1, unit.absent, '8.2', 'forbids', '%s is off the map', null),
    (2, unit.side <> combat.side, '8.0', 'forbids', '%s is of the other side', null),
    (3, not unit.absent and not unit.adjacent, '8.2', 'forbids', '%s is not beside the hex', null),
    (4, unit.said ? 'advanced', '8.5', 'forbids', '%s advanced in this player turn', null),
    (5, unit.said ? 'displaced', '8.3.1', 'forbids', '%s was displaced in this player turn', null),
    (
      6, combat.phase = 'mobile_combat' and not unit.mobile,
      '4.1', 'forbids', '%s is on foot and does not attack in this phase', null
    ),
    (
      7, combat.phase = 'mobile_combat' and unit.mobile and unit.said ? 'attacked',
      '4.1', 'forbids', '%s has attacked in this player turn', null
    ),
    (
      8, combat.phase = 'combat' and unit.said ? 'attacked',
      '8.2', 'forbids', '%s has attacked in this phase', null
    ),
    (
      9, unit.adjacent and not unit.afloat and unit.shut and not fpb._all_sea(combat.terrain, combat.features),
      '8.2', 'forbids', 'the hex is prohibited to %s', null
    ),
    (
      10, unit.said ->> 'assaulting' <> combat.label,
      '12.1', 'forbids', '%s is there to assault another hex', null
    ),
    (11, unit.afloat and not combat.boat, '12.1', 'forbids', '%s assaults, and there is no assault boat', null),
    (
      12, combat.assault and not unit.afloat and unit.said ? 'landed', '12.1',
      case state.readings ->> 'fpb-41' when 'a' then 'forbids' else 'joins' end,
      '%s landed in this game turn', 'fpb-41'
    ),
    (13, combat.banzai and unit.side = 'us', '15.0', 'forbids', '%s is no Japanese unit', null),
    (14, combat.banzai and unit.kind = 'sniper', '15.0', 'forbids', '%s is a sniper', null),
    (15, combat.banzai and unit.mobile, '15.0', 'forbids', '%s is a mobile unit', null)
  ) as entry (n, speaks, rule, effect, note, point)
  where entry.speaks
  union all
  select '12.1', null, combat.label, 'forbids', 'more than one unit assaults the hex', null, null, null, null
  where (select count(*) from unnest(combat.attackers) as attacker where fpb._is_afloat(state, attacker)) > 1
$$;

comment on function fpb._attacker_steps(positions.state, fpb.combat) is
'What keeps a unit out of this attack, or lets it in where that is contested (4.1, 8.2, 8.3.1, 8.5, 12.1, 15.0).';

create or replace function fpb._solitaire_steps(state positions.state, combat fpb.combat)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select '16.2' || entry.part, entry.clause, combat.label, entry.effect, entry.note, entry.point, null, null::integer,
    null::jsonb
  from (
    select
      (select sum((one.attributes ->> 'attack')::integer) from unnest(combat.attackers) as one) as power,
      (select sum((one.attributes ->> 'defense')::integer) from unnest(combat.defenders) as one) as guard,
      (
        select bool_and(one.kind <> 'sniper' and coalesce(one.attributes ->> 'mobility', 'leg') = 'leg')
        from unnest(combat.attackers) as one
      ) as fervent,
      -- 16.2(4), 16.2.1: held up by these, or moved against them
      (
        select bool_or(
          -- fpb-14 a: who was moved up by 16.1(4), too
          (coalesce((one.attributes ->> 'forced')::boolean, false) and state.readings ->> 'fpb-14' = 'a')
          or coalesce(one.attributes -> 'blocked_by' ?| (select array_agg(other.code) from unnest(combat.defenders) as other), false)
        )
        from unnest(combat.attackers) as one
      ) as driven,
      (select bool_or(one.attributes ? 'forced') from unnest(combat.attackers) as one) as forced,
      'airstrip' = any(combat.features)
      or array(select * from fpb._grounds(combat.terrain, combat.features, false, 'a')) = array['clear'] as bare,
      combat.terrain in ('mountain', 'hill_jungle') or (
        (combat.terrain in ('jungle', 'village') or 'village' = any(combat.features))
        and fpb._crossing(
          array(
            select approach
            from fpb._approaches(
              state, combat.q, combat.r, array(select 'unit:' || one.code from unnest(combat.attackers) as one)
            ) as approach
          ),
          state.readings
        ) = 'river'
      ) as harsh
  ) as odds
  cross join lateral (
    values
    (
      1, not combat.banzai and odds.harsh and not odds.driven,
      '', '1', 'forbids', 'Japanese units do not attack into this terrain', null
    ),
    (
      2, not combat.banzai and odds.power < 2 * odds.guard and not odds.driven,
      '', '2', 'forbids', 'Japanese units attack from double strength on', null
    ),
    (
      3, not combat.banzai and odds.driven and odds.fervent,
      '', '4', 'forbids', 'who was held up makes a Banzai attack', null
    ),
    (
      4, odds.bare and odds.fervent and odds.power >= 2 * odds.guard and not odds.driven and not odds.harsh, '.1', null,
      case when combat.banzai = (state.readings ->> 'fpb-11' = 'a') then 'passes' else 'forbids' end,
      case when combat.banzai then 'Banzai at double strength' else 'no Banzai at double strength' end, 'fpb-11'
    ),
    (
      5, combat.banzai and not odds.driven and not odds.bare,
      '.1', null, 'forbids', 'Banzai attacks are made on clear hexes and airstrips', null
    ),
    (
      7, odds.forced, '.1', null, case when odds.driven then 'driven' else 'as any other' end,
      'it was moved up against US units', 'fpb-14'
    ),
    (
      6, combat.banzai and not odds.driven and odds.power < odds.guard,
      '.1', null, 'forbids', 'Banzai attacks are made from equal strength on', null
    )
  ) as entry (n, speaks, part, clause, effect, note, point)
  where entry.speaks
    and combat.side = 'japan'
    and not combat.bombardment
    and state.conditions ->> 'mode' = 'solitaire'
  order by entry.n
$$;

comment on function fpb._solitaire_steps(positions.state, fpb.combat) is
'Whether a Japanese attack is one that solitaire play knows: printed strengths, terrain, Banzai or not (16.2, 16.2.1).';

create or replace function fpb._strength_steps(combat fpb.combat)
returns setof rulings.ledger_step
language sql stable rows 4
as $$
  select
    '8.2.1', 'c',
    attacker.label,
    case when attacker.attributes ? 'attack' then 'adds' else 'unknown' end,
    case when attacker.attributes ? 'attack' then format('the attack strength of %s', attacker.code) else 'counters' end,
    null,
    attacker.code,
    2 * (attacker.attributes ->> 'attack')::integer,
    null::jsonb
  from unnest(combat.attackers) as attacker
  union all
  select
    case when combat.bombardment then '8.1.2' else '8.2.1' end, case when not combat.bombardment then 'c' end,
    defender.label,
    case when defender.attributes ? 'defense' then 'adds' else 'unknown' end,
    case when defender.attributes ? 'defense' then format('the defense strength of %s', defender.code) else 'counters' end,
    null,
    defender.code,
    -2 * (defender.attributes ->> 'defense')::integer,
    null::jsonb
  from unnest(combat.defenders) as defender
$$;

comment on function fpb._strength_steps(fpb.combat) is
'The printed strengths of both sides (8.2.1 c, 8.1.2); unknown where a counter does not tell.';

create or replace function fpb._fortification_steps(state positions.state, combat fpb.combat)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_column
declare
  defender positions.counter;
  step rulings.ledger_step;
  opener text;
  verdict text;
begin
  foreach defender in array combat.defenders loop
    verdict := null;
    for step in
      select * from fpb.fortified(state.position_id, defender.code, state.conditions, state.readings)
    loop
      if step.facts is not null then
        verdict := step.effect;
      elsif step.effect in ('unknown', 'fortified', 'in radius') then
        return next step;
      end if;
    end loop;
    continue when verdict <> 'fortified';
    select attacker.code into opener
    from unnest(combat.attackers) as attacker
    where attacker.side = 'us' and attacker.kind = 'engineer'
    order by attacker.code
    limit 1;
    return next row(
      case when opener is null then '8.2.3' else '14.0' end,
      null,
      defender.label,
      case
        when opener is not null then 'negates'
        when combat.bombardment and state.readings ->> 'fpb-44' = 'b' then 'disregarded'
        else 'doubles'
      end,
      case
        when opener is not null then format('%s opens the way into the caves', opener)
        else format('%s is fortified', defender.code)
      end,
      case when combat.bombardment then 'fpb-44' end,
      defender.code,
      case
        when opener is null and not (combat.bombardment and state.readings ->> 'fpb-44' = 'b')
          then -2 * (defender.attributes ->> 'defense')::integer
      end,
      null
    )::rulings.ledger_step;
  end loop;
end
$$;

comment on function fpb._fortification_steps(positions.state, fpb.combat) is
'Whether caves or a fortification double the defense, or an engineer opens them (8.2.3, 14.0, fpb-44).';

create or replace function fpb._support_steps(
  state positions.state, side text, purpose text, markers jsonb, halved boolean
)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  with marker as (
    select
      marker.*,
      fpb._marker_bar(state, marker, _support_steps.side, _support_steps.purpose) as bar,
      case when _support_steps.purpose = 'defense' then -1 else 1 end as sign
    from fpb._support_markers(_support_steps.markers) as marker
  )
  select
    case when marker.bar is null then '7.2' when marker.bar = 'used' then '7.2' else marker.bar end,
    null,
    null,
    case
      when marker.bar is null then 'adds'
      when marker.bar = 'used' then 'barred'
      when marker.bar = '18.1' and state.readings ->> 'fpb-45' = 'c' then 'forbids'
      else 'returned'
    end,
    case
      when marker.bar is null and _support_steps.halved and state.readings ->> 'fpb-31' = 'a'
        then format('a marker of +%s, halved', marker.value)
      when marker.bar is null then format('a marker of +%s', marker.value)
      when marker.bar = 'used' then format('+%s has served in this game turn', marker.value)
      when marker.bar = '17.1' then 'a naval marker of +10 serves in the defense alone'
      else format('a naval marker of +%s that was not withheld', marker.value)
    end,
    case
      when marker.bar = '18.1' then 'fpb-45'
      when marker.value = 10 and marker.kind = 'naval' and marker.withheld then 'fpb-8'
    end,
    _support_steps.side,
    case
      when marker.bar is null and _support_steps.halved and state.readings ->> 'fpb-31' = 'a'
        then 2 * marker.sign * (marker.value / 2)
      when marker.bar is null then 2 * marker.sign * marker.value
    end,
    marker.told
  from marker
  union all
  -- fpb-31 b: once, of the total
  select
    '8.2.3',
    null,
    null,
    'halves',
    'markers against a fortification',
    'fpb-31',
    _support_steps.side,
    case state.readings ->> 'fpb-31'
      when 'b' then -2 * (sum(marker.value) - sum(marker.value) / 2)::integer
    end,
    null
  from marker
  where marker.bar is null and _support_steps.halved
  having count(*) > 0
$$;

comment on function fpb._support_steps(positions.state, text, text, jsonb, boolean) is
'What each marker of a side adds, halved against a fortification, and which go back (7.2, 8.2.3, 17.1, 18.1).';

create or replace function fpb._limit_steps(
  state positions.state, combat fpb.combat, steps rulings.ledger_step[], side text, purpose text
)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select entry.rule, null, combat.label, entry.effect, entry.note, entry.point, _limit_steps.side, null::integer,
    null::jsonb
  from (
    select
      count(*) filter (where step.effect <> 'returned') as placed,
      count(*) filter (where step.effect = 'adds') as serving,
      coalesce(state.conditions ->> 'mode' = 'solitaire', false) and _limit_steps.side = 'japan' as automatic
    from unnest(steps) as step
    where step.facts is not null
  ) as marker
  cross join lateral (
    values
    (
      1, marker.placed > 2, case when combat.bombardment then '8.1' else '8.2.1' end,
      'forbids', 'a side places at most two markers', null
    ),
    (
      2, marker.placed > 0 and combat.banzai, '15.0',
      case when marker.automatic and state.readings ->> 'fpb-10' = 'b' then 'passes' else 'forbids' end,
      'nobody supports a Banzai attack', case when marker.automatic then 'fpb-10' end
    ),
    (
      3, marker.placed > 0 and combat.bombardment and _limit_steps.purpose = 'defense', '8.1.2',
      case
        when state.readings ->> 'fpb-35' = 'b' or (state.readings ->> 'fpb-35' = 'c' and marker.automatic) then 'passes'
        else 'forbids'
      end,
      'markers of the defender against a bombardment', 'fpb-35'
    ),
    (
      4, marker.serving = 0 and combat.bombardment and _limit_steps.purpose = 'bombardment',
      '8.1', 'forbids', 'no marker serves to bombard', null
    )
  ) as entry (n, speaks, rule, effect, note, point)
  where entry.speaks
  order by entry.n
$$;

comment on function fpb._limit_steps(positions.state, fpb.combat, rulings.ledger_step[], text, text) is
'How many markers a side may place, and whether any (8.1, 8.1.2, 8.2.1, 15.0).';

create or replace function fpb._combat_verdict(
  state positions.state, combat fpb.combat, steps rulings.ledger_step[], line jsonb
)
returns rulings.ledger_step
language plpgsql stable
as $$
declare
  verdict rulings.ledger_step;
  bar rulings.ledger_step;
  attack integer;
  defense integer;
  untold boolean;
  col integer;
  facts jsonb;
begin
  select * into bar from unnest(steps) as step where step.effect = 'forbids' limit 1;
  untold := exists (select from unnest(steps) as step where step.effect = 'unknown');
  select
    coalesce(sum(step.halves) filter (where step.halves > 0 or step.effect = 'halves'), 0) / 2,
    -coalesce(sum(step.halves) filter (where step.halves < 0 and step.effect <> 'halves'), 0) / 2
  into attack, defense
  from unnest(steps) as step
  where step.effect in ('adds', 'doubles', 'halves');
  if bar.rule is null and not untold then
    col := fpb._column((line ->> 'line')::integer, attack - defense, state.readings);
    if col is null then
      bar.rule := '8.2.1';
      bar.note := 'its differential is ' || fpb._beyond((line ->> 'line')::integer, attack - defense);
    end if;
    verdict.point := case
      when fpb._beyond((line ->> 'line')::integer, attack - defense) is not null then 'fpb-29'
    end;
  end if;
  facts := jsonb_build_object(
    'allowed', case when bar.rule is not null then false when untold then null else true end,
    'defenders', array(select defender.code from unnest(combat.defenders) as defender),
    'side', combat.side, 'hex', combat.label, 'reef', combat.reef,
    'assaulting', array(
      select attacker.code from unnest(combat.attackers) as attacker where fpb._is_afloat(state, attacker)
    ),
    'openers', array(
      select attacker.code
      from unnest(combat.attackers) as attacker
      where attacker.side = 'us' and attacker.kind = 'engineer'
        and exists (select from unnest(steps) as step where step.effect = 'negates')
    )
  );
  verdict.rule := coalesce(bar.rule, '8.2.1');
  verdict.clause := bar.clause;
  verdict.at := combat.label;
  if bar.rule is not null then
    verdict.effect := 'not allowed';
    verdict.note := bar.note;
    verdict.facts := facts || jsonb_build_object('why', bar.note);
    return verdict;
  end if;
  verdict.effect := case when untold then 'not told' else 'column ' || col end;
  verdict.note := case
    when untold then 'the strengths are not all told'
    else format('%s against %s on line %s', attack, defense, line ->> 'line')
  end;
  verdict.facts := facts || jsonb_build_object(
    'attack', case when not untold then attack end,
    'defense', case when not untold then defense end,
    'differential', case when not untold then attack - defense end,
    'line', (line ->> 'line')::integer,
    'column', col,
    'modifiers', (
      select coalesce(jsonb_agg(
        jsonb_build_object('rule', step.rule, 'value', coalesce(step.halves, 0) / 2, 'note', step.note) order by step.n
      ), '[]')
      from unnest(steps) with ordinality as step (rule, clause, at, effect, note, point, by, halves, facts, n)
      where step.effect in ('doubles', 'negates', 'returned') or (step.effect = 'halves' and step.halves is not null)
        or (step.effect = 'adds' and step.facts is not null)
    )
  );
  return verdict;
end
$$;

comment on function fpb._combat_verdict(positions.state, fpb.combat, rulings.ledger_step[], jsonb) is
'The sums of a combat, its differential, line and column; or what forbids it, or that a counter does not tell.';

create or replace function fpb._combat_steps(
  state positions.state, combat fpb.combat, attacking jsonb, defending jsonb
)
returns setof rulings.ledger_step
language plpgsql stable rows 15
as $$
#variable_conflict use_variable
declare
  opponent text := case combat.side when 'us' then 'japan' else 'us' end;
  purpose text := case when combat.bombardment then 'bombardment' else 'attack' end;
  steps rulings.ledger_step[];
  caves rulings.ledger_step[];
  fire rulings.ledger_step[];
  cover rulings.ledger_step[];
  ground rulings.ledger_step[];
begin
  steps := array(select step from fpb._target_steps(state, combat) as step)
    || array(select step from fpb._attacker_steps(state, combat) as step)
    || array(select step from fpb._solitaire_steps(state, combat) as step);
  caves := array(select step from fpb._fortification_steps(state, combat) as step);
  fire := array(
    select step
    from fpb._support_steps(
      state, combat.side, purpose, attacking,
      exists (select from unnest(caves) as cave where cave.effect = 'doubles')
    ) as step
  );
  cover := array(select step from fpb._support_steps(state, opponent, 'defense', defending, false) as step);
  steps := steps
    || array(select step from unnest(fire || cover) as step where step.effect in ('forbids', 'returned', 'barred'))
    || array(select step from fpb._limit_steps(state, combat, fire, combat.side, purpose) as step)
    || array(select step from fpb._limit_steps(state, combat, cover, opponent, 'defense') as step);
  if exists (select from unnest(steps) as step where step.effect = 'forbids') then
    return query select * from unnest(steps);
    return next fpb._combat_verdict(state, combat, steps, null);
    return;
  end if;
  steps := steps
    || array(select step from fpb._strength_steps(combat) as step)
    || caves
    || array(select step from unnest(fire || cover) as step where step.effect in ('adds', 'halves'));
  ground := array(
    select step
    from fpb.terrain_line(
      state.position_id, 'hex:' || combat.label,
      array(select 'unit:' || attacker.code from unnest(combat.attackers) as attacker),
      combat.bombardment, state.conditions, state.readings
    ) as step
  );
  return query select * from unnest(steps);
  return query select * from unnest(ground);
  return next fpb._combat_verdict(state, combat, steps, ground[cardinality(ground)].facts);
end
$$;

comment on function fpb._combat_steps(positions.state, fpb.combat, jsonb, jsonb) is
'The whole ledger of a combat: what forbids it, strengths, caves, markers, terrain; the verdict last.';

create or replace function fpb.attack(
  position_id bigint,
  by text[],
  at text,
  attacker jsonb default '[]',
  defender jsonb default '[]',
  banzai boolean default false,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 15
as $$
#variable_conflict use_variable
declare
  state positions.state;
begin
  select * into state from positions.state(position_id, conditions, policy);
  return query
  select * from fpb._combat_steps(state, fpb._combat(state, by, at, null, banzai), attacker, defender);
end
$$;

comment on function fpb.attack(bigint, text[], text, jsonb, jsonb, boolean, jsonb, jsonb) is
'The ledger of an attack: who may, the strengths with markers and caves, differential, line and column last (8.2).';

create or replace function fpb.bombardment(
  position_id bigint,
  at text,
  markers jsonb,
  defender jsonb default '[]',
  side text default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
as $$
#variable_conflict use_variable
declare
  state positions.state;
begin
  select * into state from positions.state(position_id, conditions, policy);
  return query
  select * from fpb._combat_steps(state, fpb._combat(state, '{}', at, side, false), markers, defender);
end
$$;

comment on function fpb.bombardment(bigint, text, jsonb, jsonb, text, jsonb, jsonb) is
'The ledger of a bombardment by these markers: whether it may be, differential, line and column last (8.1).';

create or replace function fpb.combat_result(
  position_id bigint,
  line integer,
  differential integer,
  roll integer,
  manner text default 'attack',
  friend boolean default true,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  step rulings.ledger_step;
  result text;
  applied text;
  rule text;
  note text;
begin
  for step in select * from fpb.crt(position_id, line, differential, roll, conditions, policy) loop
    if step.facts is null then
      return next step;
    else
      result := step.facts ->> 'result';
    end if;
  end loop;
  applied := result;
  rule := '8.2.4';
  note := 'as the table says';
  if manner = 'banzai' and result in ('D2', 'D3') then
    applied := 'Ex';
    rule := '15.0';
    note := format('%s of a Banzai attack is an exchange', result);
  elsif manner = 'bombardment' and result in ('Ae', 'A1', 'A2', 'A3', 'Ex') then
    applied := 'NE';
    rule := '8.1.3';
    note := format('%s is nothing in a bombardment', result);
  elsif manner = 'bombardment' and result = '(A)' then
    applied := case when friend then '(A)' else 'NE' end;
    rule := '8.1.3';
    note := case when friend then 'a friend is beside the hex' else 'no friend is beside the hex' end;
  end if;
  return next row(
    rule, null, null, applied, note, null, null, null, jsonb_build_object('result', result, 'applied', applied)
  )::rulings.ledger_step;
end
$$;

comment on function fpb.combat_result(bigint, integer, integer, integer, text, boolean, jsonb, jsonb) is
'What a roll brings, and what of it is applied to an attack, a Banzai attack or a bombardment (8.1.3, 8.2.4, 15.0).';
