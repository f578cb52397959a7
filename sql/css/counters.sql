-- needs: css/activation.sql, css/passage.sql, css/fire_zone.sql, css/status.sql
-- Support Weapons, Leaders, Heroes, trucks and Ridge markers in css (Guam): who may be put where: 6.2.2, 12.1, 12.2,
-- 13.1, 13.3, 14.1, 15.0. Ways are traced by `css.trace_path`.

create or replace function css._barred(bars rulings.ledger_step[], rule text, effect text, note text, facts jsonb, at text)
returns setof rulings.ledger_step
language sql immutable rows 3
as $$
  select bar.* from unnest(bars) as bar
  union all
  select (css._sum(
    coalesce(bars[1].rule, rule), case when cardinality(bars) > 0 then 'refused' else effect end,
    coalesce(bars[1].note, note), facts, at
  )).*
$$;

comment on function css._barred(rulings.ledger_step[], text, text, text, jsonb, text) is
'A ledger of what forbids something: its rows, and the verdict, refused where there are any.';

create or replace function css._out_of_turn_steps(state positions.state, unit positions.counter, rule text)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select (css._entry(rule, null, 'forbids', format('%s is not Active', unit.code), unit.code, null, null, unit.label)).*
  where not css._is_active(state, unit)
$$;

comment on function css._out_of_turn_steps(positions.state, positions.counter, text) is
'That a counter is not Active, where the conditions tell who is (5.1).';

create or replace function css._has_no_steps(conditions jsonb)
returns boolean
language sql immutable parallel safe
-- 4.0 2C v a to d: Leaders are moved, weapons attached and detached on the chits of Divisions and Formations
return coalesce(css._chit(conditions) in ('direct_command', 'amphibious'), false);

comment on function css._has_no_steps(jsonb) is
'Whether a chit is played that has no steps for Leaders and Support Weapons (4.0 2C).';

create or replace function css._off_step(conditions jsonb, step text)
returns boolean
language sql immutable parallel safe
-- where a step is told, it is that of the sequence of play or the wrong one
return coalesce(conditions ->> 'step' <> step, false);

comment on function css._off_step(jsonb, text) is
'Whether it is another step of an Activation than the one for this (4.0 2C v).';

create or replace function css._owning_hqs(state positions.state, asked positions.counter)
returns setof text
language sql stable rows 2
as $$
  select head.code
  from public.unit as head
  cross join lateral css._command_facts(head.attributes, head.kind) as his
  cross join lateral css._command_facts(asked.attributes, asked.kind) as hers
  where head.position_id = state.position_id
    and head.kind = 'hq'
    and head.side = asked.side
    and head.q is not null
    and not css._apart(hers, his)
    -- its Formation's, or the Division's
    and (his.formation is null or hers.formation is null or his.formation = hers.formation)
  order by his.formation is null, head.code
$$;

create or replace function css.attach(
  position_id bigint, weapon text, "to" text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter := positions._asked_counter(position_id, weapon);
  place record;
  crowd record;
  bars rulings.ledger_step[];
begin
  select * into state from positions.state(position_id, conditions, policy);
  select hex.label, spot.q, spot.r into place
  from positions.place(position_id, "to") as spot
  inner join public.hex on hex.map_id = state.map_id and hex.q = spot.q and hex.r = spot.r;
  select
    count(*) filter (where css._is_unit(unit.kind) and unit.side = asked.side) as units,
    count(*) filter (where unit.kind = 'support_weapon' and unit.side = asked.side and unit.code <> weapon) as weapons,
    -- what is not told is not held against it
    coalesce(bool_or(css._is_unit(unit.kind) and coalesce(css._akin(hers, his), true)), false) as kin,
    coalesce(bool_or(css._is_unit(unit.kind) and unit.attributes ->> 'service' = 'navy'), false) as navy,
    coalesce(bool_or(css._is_unit(unit.kind) and css._is_active(state, standing)), false) as active,
    coalesce(bool_or(css._is_unit(unit.kind) and not coalesce(state.conditions -> 'acted' ? unit.code, false)), false) as fresh
  into crowd
  from public.unit
  cross join lateral css._command_facts(unit.attributes, unit.kind) as hers
  cross join lateral css._command_facts(asked.attributes, asked.kind) as his
  cross join lateral positions.counter(position_id, unit.code) as standing
  where unit.position_id = position_id and (unit.q, unit.r) = (place.q, place.r);
  bars := array(
    select css._entry(bar.rule, null, 'forbids', bar.note, weapon, null, null, place.label)
    from (
      values
      ('12.1', asked.kind <> 'support_weapon', 'only Support Weapons are attached'),
      (
        '12.1',
        asked.q is null and coalesce(asked.attributes ->> 'box', 'off_board') <> 'available',
        format('it is in the box %s, not Available', replace(coalesce(asked.attributes ->> 'box', 'off_board'), '_', ' '))
      ),
      ('12.1', asked.q is not null, 'it is attached already'),
      ('4.0', css._has_no_steps(state.conditions), 'on this chit no Support Weapon is attached'),
      ('4.0', css._off_step(state.conditions, 'attach'), 'Support Weapons are attached in a step of their own'),
      ('12.1', crowd.units = 0, 'no Unit of its side is there'),
      (
        '12.1', crowd.units > 0 and crowd.weapons >= crowd.units,
        'there are as many Support Weapons as Units already'
      ),
      ('12.1', crowd.units > 0 and not crowd.kin, 'no Unit of its own is there'),
      ('12.1', crowd.kin and not crowd.active, 'no Active Unit is there to receive it'),
      ('12.1', crowd.units > 0 and not crowd.fresh, 'the Units there have done an Action already'),
      (
        '6.1.2', asked.side = 'japan' and crowd.units > 0
        and coalesce(asked.attributes ->> 'service' = 'navy', false) <> crowd.navy and asked.attributes ? 'service',
        'Navy and Army do not use each other''s weapons'
      )
    ) as bar (rule, holds, note)
    where bar.holds
    union all
    select step from css._out_of_turn_steps(state, asked, '12.1') as step
  );
  return query
  select * from css._barred(
    bars, '12.1', 'attaches', format('%s may be attached', weapon),
    jsonb_build_object(
      'at', place.label,
      'for', case when asked.attributes ->> 'target' = 'tank' then 'tank_support_weapon' else 'support_weapon' end,
      'heads', (select coalesce(jsonb_agg(head), '[]') from css._owning_hqs(state, asked) as head)
    ),
    place.label
  );
end
$$;

comment on function css._owning_hqs(positions.state, positions.counter) is
'The HQs from which a Support Weapon is traced: of its Formation, or of its Division (12.1).';
comment on function css.attach(bigint, text, text, jsonb, jsonb) is
'Whether a Support Weapon may be attached to the Units of a hex, its trace apart (12.1).';

create or replace function css.detach(
  position_id bigint, weapon text, source text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter := positions._asked_counter(position_id, weapon);
begin
  select * into state from positions.state(position_id, conditions, policy);
  return query
  select * from css._barred(
    array(
      select css._entry(bar.rule, null, 'forbids', bar.note, weapon, null, null, asked.label)
      from (
        values
        ('12.2', asked.kind <> 'support_weapon', 'only Support Weapons are detached'),
        ('12.2', asked.q is null, 'it is attached nowhere'),
        (
          '12.2', exists (
            select from positions.place(position_id, source) as spot where (spot.q, spot.r) <> (asked.q, asked.r)
          ),
          format('it is not with %s', source)
        )
      ) as bar (rule, holds, note)
      where bar.holds
    ),
    '12.2', 'detaches', format('%s may be detached', weapon),
    jsonb_build_object(
      'at', asked.label,
      'side', asked.side,
      -- 4.0 2C v d, 12.2: what keeps it from being detached at will
      'kept', case
        when css._has_no_steps(state.conditions) then 'on this chit no Support Weapon is detached'
        when css._off_step(state.conditions, 'detach') then 'Support Weapons are detached in a step of their own'
        when not css._is_active(state, asked) then format('%s is not Active', weapon)
        when not exists (
          select
          from public.unit
          where unit.position_id = position_id and (unit.q, unit.r) = (asked.q, asked.r) and unit.side = asked.side
            and css._is_unit(unit.kind) and not coalesce(state.conditions -> 'acted' ? unit.code, false)
        ) then 'the Units there have done an Action already'
      end,
      'for', case when asked.attributes ->> 'target' = 'tank' then 'tank_support_weapon' else 'support_weapon' end,
      'heads', (select coalesce(jsonb_agg(head), '[]') from css._owning_hqs(state, asked) as head)
    ),
    asked.label
  );
end
$$;

comment on function css.detach(bigint, text, text, jsonb, jsonb) is
'Whether a Support Weapon may be detached, its trace apart (12.2).';

create or replace function css.leader_move(
  position_id bigint, leader text, "to" text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter := positions._asked_counter(position_id, leader);
  place record;
  bars rulings.ledger_step[];
begin
  select * into state from positions.state(position_id, conditions, policy);
  select hex.label, spot.q, spot.r into place
  from positions.place(position_id, "to") as spot
  inner join public.hex on hex.map_id = state.map_id and hex.q = spot.q and hex.r = spot.r;
  bars := array(
    select css._entry(bar.rule, null, 'forbids', bar.note, leader, null, null, place.label)
    from (
      values
      ('13.1', asked.kind <> 'leader', 'only Leaders are moved so'),
      (
        '13.1',
        css._has_no_steps(state.conditions),
        'on this chit a Leader moves with an Active Unit, never alone'
      ),
      ('4.0', css._off_step(state.conditions, 'leaders'), 'Leaders are moved first of all'),
      (
        '13.1',
        not exists (
          select
          from public.unit
          cross join lateral css._command_facts(unit.attributes, unit.kind) as hers
          cross join lateral css._command_facts(asked.attributes, asked.kind) as his
          where unit.position_id = position_id
            and (unit.q, unit.r) = (place.q, place.r)
            and unit.side = asked.side
            and css._is_unit(unit.kind)
            and css._akin(hers, his) is distinct from false
        ),
        'no Unit of his command is there'
      )
    ) as bar (rule, holds, note)
    where bar.holds
    union all
    select step from css._out_of_turn_steps(state, asked, '13.1') as step
  );
  return query
  select * from css._barred(
    bars, '13.1', 'moves', format('%s may be moved', leader),
    jsonb_build_object('at', place.label, 'from', asked.label, 'afloat', asked.q is null), place.label
  );
end
$$;

comment on function css.leader_move(bigint, text, text, jsonb, jsonb) is
'Whether a Leader may be placed with the Units of a hex, his trace apart (13.1).';

create or replace function css._has_unit(position_id bigint, spot public.hex, pattern text, formation text)
returns boolean
language sql stable
return exists (
  select
  from public.unit
  where unit.position_id = _has_unit.position_id
    and (unit.q, unit.r) = (spot.q, spot.r)
    and unit.side = 'us'
    and css._is_unit(unit.kind)
    and case
      when _has_unit.formation is not null and unit.attributes ? 'formation'
        then unit.attributes ->> 'formation' = _has_unit.formation
      else unit.code ~ pattern
    end
);

create or replace function css.hero(
  position_id bigint, hero text, place text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter := positions._asked_counter(position_id, hero);
  name constant text := substring(lower(hero) from 'mason|skaggs|wilson|witek');
  spot public.hex;
  used boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select hex.* into spot
  from positions.place(position_id, place) as found
  inner join public.hex on hex.map_id = state.map_id and hex.q = found.q and hex.r = found.r;
  select coalesce(position.tracks -> 'once' ? name, false) into used
  from public.position where position.id = position_id;
  return query
  select * from css._barred(
    array(
      select css._entry('14.1', bar.clause, 'forbids', bar.note, hero, null, null, spot.label)
      from (
        values
        (null, asked.kind <> 'hero' or asked.side <> 'us', 'only the American Heroes are used so'),
        (null, name is null, 'of this Hero the rules tell nothing'),
        (null, used or coalesce(asked.attributes ->> 'status' = 'eliminated', false), 'he is out of the game'),
        ('a', name in ('mason', 'witek') and place is not null, 'he is used, not placed'),
        ('b', name in ('skaggs', 'wilson') and place is null, 'he is placed in a hex'),
        (
          'b', name = 'skaggs' and place is not null and not exists (
            select from public.marker
            where marker.position_id = position_id
              and marker.kind in ('banzai_charge', 'drunk_banzai_charge')
              and lattice.distance(marker.q, marker.r, spot.q, spot.r) <= 1
          ),
          'no Banzai Charge marker is beside the hex'
        ),
        (
          'b', name = 'skaggs' and place is not null and not css._has_unit(position_id, spot, '(^|\W)3 RCT|/3$', '3 RCT'),
          'no Unit of 3 RCT is there'
        ),
        (
          'c', name = 'wilson' and coalesce(state.conditions ->> 'day', '07-25') <> '07-25',
          'he is placed on 25 July only'
        ),
        (
          'c', name = 'wilson' and place is not null and not css._has_unit(position_id, spot, '^[EFG]/2/9$', null),
          'neither E, F nor G of 2/9 is there'
        )
      ) as bar (clause, holds, note)
      where bar.holds
    ),
    '14.1', case when place is null then 'used' else 'placed' end, format('%s serves', hero),
    jsonb_build_object('name', name, 'at', spot.label), spot.label
  );
end
$$;

comment on function css._has_unit(bigint, public.hex, text, text) is
'Whether an American Unit by its Formation, or by its name, is in a hex.';
comment on function css.hero(bigint, text, text, jsonb, jsonb) is
'Whether an American Hero may be used or placed now (14.1).';

create or replace function css.truck(
  position_id bigint, truck text, unit text, loading boolean, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  lorry positions.counter := positions._asked_counter(position_id, truck);
  cargo positions.counter;
  carried text;
  corps boolean;
  zoned boolean;
  chit text;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select aboard.code into carried
  from public.unit as aboard
  where aboard.position_id = position_id and aboard.attributes ->> 'loaded_in' = truck
  order by aboard.code
  limit 1;
  select * into cargo from positions.counter(position_id, coalesce(unit, carried));
  corps := css._is_corps(lorry.attributes);
  chit := css._chit(state.conditions);
  zoned := exists (
    select
    from css.side_zone(position_id, 'japan', conditions, policy) as zone
    where zone.arm = 'unit' and (zone.q, zone.r) = (cargo.q, cargo.r)
  );
  return query
  select * from css._barred(
    array(
      select css._entry(bar.rule, null, 'forbids', bar.note, truck, null, null, cargo.label)
      from (
        values
        ('15.0', lorry.kind <> 'truck' or lorry.side <> 'us', 'only American trucks carry Units'),
        (
          '15.0',
          not corps and chit <> 'division',
          'on the Division''s own chit alone'
        ),
        (
          '15.0',
          chit = 'division' and not css._is_active(state, case when loading then cargo else lorry end),
          format('%s is not Active', case when loading then cargo.code else truck end)
        ),
        (
          '26.0',
          corps and chit <> 'direct_command',
          'Corps trucks are Active on the Direct Command chit alone'
        ),
        ('15.0', loading and coalesce(lorry.attributes ->> 'box', '') <> 'truck_pool', 'the truck is not in the pool'),
        ('15.0', cargo.q is null, 'the Unit is not on the map'),
        ('15.0', loading and cargo.attributes ? 'loaded_in', 'it is carried already'),
        ('15.0', loading and not css._is_unit(cargo.kind), 'a truck carries a Unit, and what goes with it'),
        ('15.0', loading and cargo.attributes ->> 'posture' = 'deployed', 'only a column is carried'),
        (
          '8.7',
          loading and cargo.attributes #>> '{fire,type}' = 'indirect' and css._allowance(cargo.attributes) > 0,
          'it moves by itself in Column, and is not carried'
        ),
        ('15.0', loading and zoned, 'it stands in an enemy Fire Zone'),
        (
          '15.0',
          loading and not corps and (
            select step.effect from css.command(position_id, cargo.code, conditions, policy) as step
            where step.effect in ('in command', 'out of command')
          ) = 'out of command',
          'it is not In-Command'
        ),
        (
          '15.0',
          not corps and lorry.attributes ->> 'division' <> cargo.attributes ->> 'division',
          'the truck is of another Division'
        ),
        ('26.0', corps <> css._is_corps(cargo.attributes), 'Corps trucks carry Corps Artillery, and nothing else'),
        ('15.0', not loading and carried is null, 'the truck carries nobody'),
        (
          '15.0', not loading and cargo.attributes ->> 'loaded_in' is distinct from truck and carried is not null,
          format('%s is not in %s', unit, truck)
        ),
        (
          '15.0',
          coalesce((state.conditions -> 'acted' ->> cargo.code)::integer, 0) > 0
          or coalesce((state.conditions -> 'acted' ->> truck)::integer, 0) > 0,
          'it takes all Actions of truck and Unit'
        )
      ) as bar (rule, holds, note)
      where bar.holds
    ),
    '15.0', case when loading then 'loads' else 'unloads' end,
    case when loading then 'it is loaded' else 'it is unloaded' end,
    jsonb_build_object('at', cargo.label, 'unit', cargo.code, 'zoned', zoned), cargo.label
  );
end
$$;

create or replace function css.truck_cost(
  position_id bigint, truck text, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  state positions.state;
  actors css.piece[] := css._pieces_of(position_id, array[truck, unit]);
  each_pays boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  each_pays := state.readings ->> 'css-87' = 'b';
  if css._on_command(state.conditions) then
    return next css._entry(
      '26.0', null, 'costs',
      case when each_pays then 'truck and Unit are each made Active' else 'truck and Unit are made Active together' end,
      truck, null, 'css-87'
    );
    if not each_pays then
      -- css-87 a: whichever of the two has been paid for
      actors := case
        when coalesce(state.conditions #> '{active,units}' ?| array[truck, unit], false) then '{}'
        else actors[:1]
      end;
    end if;
  end if;
  return next css._sum(
    '15.0', 'costs', 'what it costs', jsonb_build_object('cost', css._cost(state.conditions, actors))
  );
end
$$;

comment on function css.truck_cost(bigint, text, text, jsonb, jsonb) is
'Direct Commands for which a truck takes a Unit aboard or puts it down: of Corps trucks alone (15.0, 26.0, css-87).';

comment on function css.truck(bigint, text, text, boolean, jsonb, jsonb) is
'Whether a truck may load a Unit, or unload it (15.0, 26.0).';

create or replace function css._ridges(state positions.state, unit positions.counter)
returns table (direction integer, enemies text[], in_caves boolean)
language sql stable rows 2
as $$
  select
    beside.direction,
    array_agg(enemy.code order by enemy.code),
    bool_and(coalesce((enemy.attributes ->> 'in_cave')::boolean, false))
  from lattice.neighbours(unit.q, unit.r) as beside
  inner join public.hexside
    on hexside.map_id = state.map_id and hexside.kind = 'ridge'
    and hexside.x = unit.q + beside.nq and hexside.y = unit.r + beside.nr
  inner join public.unit as enemy
    on enemy.position_id = state.position_id and enemy.side <> unit.side
    and enemy.q = beside.nq and enemy.r = beside.nr and css._is_unit(enemy.kind)
  group by beside.direction
  order by beside.direction
$$;

comment on function css._ridges(positions.state, positions.counter) is
'Ridge hexsides of a unit''s hex with enemies behind them (6.2.2).';

create or replace function css._idle_ridges(state positions.state)
returns setof text
language sql stable rows 1
as $$
  select hex.label
  from public.marker
  inner join public.hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
  where marker.position_id = state.position_id
    and marker.kind = 'ridge'
    and not exists (
      select
      from public.unit as holder
      inner join public.unit as enemy
        on holder.position_id = enemy.position_id and holder.side <> enemy.side
        and lattice.distance(enemy.q, enemy.r, holder.q, holder.r) <= 1
      where holder.position_id = state.position_id
        and (holder.q, holder.r) = (marker.q, marker.r)
        and css._is_unit(holder.kind) and css._is_unit(enemy.kind)
    )
  order by hex.label
$$;

comment on function css._idle_ridges(positions.state) is
'Hexes of Ridge markers beside which no enemy Unit is left (6.2.2).';

create or replace function css.ridge_marker(
  position_id bigint, unit text, deed text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter := positions._asked_counter(position_id, unit);
  lying record;
  ridge record;
  theirs boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select * into ridge from css._ridges(state, asked) limit 1;
  select marker.id, marker.facing into lying
  from public.marker
  where marker.position_id = position_id and marker.kind = 'ridge' and (marker.q, marker.r) = (asked.q, asked.r);
  -- the ridge is claimed by those on its other side
  theirs := exists (
    select
    from css._ridges(state, asked) as side
    inner join public.unit as enemy on enemy.position_id = position_id and enemy.code = any(side.enemies)
    inner join public.marker
      on marker.position_id = position_id and marker.kind = 'ridge' and marker.q = enemy.q and marker.r = enemy.r
  );
  return query
  select * from css._barred(
    array(
      select css._entry('6.2.2', null, 'forbids', bar.note, unit, null, null, asked.label)
      from (
        values
        (
          deed <> 'remove' and ridge.direction is null,
          'no enemy stands behind a ridge hexside of its hex'
        ),
        (
          deed = 'claim' and coalesce((asked.attributes ->> 'in_cave')::boolean, false),
          'Units in a cave never have a Ridge marker'
        ),
        (deed = 'claim' and lying.id is not null, 'its hex has a Ridge marker'),
        (deed = 'claim' and theirs, 'the other side has claimed the ridge'),
        (deed = 'remove' and lying.id is null, 'no Ridge marker lies there'),
        (
          deed = 'remove' and ridge.direction is not null and not css._is_active(state, asked),
          'only Active Units give a Ridge marker up'
        )
      ) as bar (holds, note)
      where bar.holds
    ),
    '6.2.2', deed,
    case deed when 'claim' then 'the ridge is claimed' when 'remove' then 'the marker is taken off' else 'it is declined' end,
    jsonb_build_object(
      'at', asked.label,
      'side', coalesce(lying.facing, ridge.direction),
      'may_claim', case when deed <> 'claim' and not coalesce(ridge.in_caves, false) then to_jsonb(coalesce(ridge.enemies, '{}')) else '[]' end
    ),
    asked.label
  );
end
$$;

comment on function css.ridge_marker(bigint, text, text, jsonb, jsonb) is
'Whether a unit may claim a ridge or give its marker up, and who may claim it then (6.2.2).';
