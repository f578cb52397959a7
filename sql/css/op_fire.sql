-- needs: css/mover.sql, css/fire_zone.sql, css/los.sql
-- Opportunity Fire at a mover in css (Guam): 6.0, 6.1.3, 6.3, 8.6, 8.6.1, 8.6.2, 12.3, 12.5, 22.3.2, 24.2.
--
-- It falls on a unit that leaves a hex, so a leg of a way is judged by the zones on the hex
-- left, as they are at that moment: a unit that has the mover beside it fires one hex only
-- (7.2). Who lands is fired at on the beach instead, before being there.

drop type if exists css.gunner cascade;
create type css.gunner as (
  code text,
  q integer,
  r integer,
  inside boolean,
  indirect boolean,
  range integer,
  reach integer,
  untold boolean,
  suppressed boolean,
  concentrated boolean,
  spent boolean,
  sustains boolean,
  alert integer
);

comment on type css.gunner is
'An enemy who may watch a way.';
comment on column css.gunner.inside is 'Whether it is inside a cave (6.3)';
comment on column css.gunner.range is 'As printed; reach: how far it fires, or may, while no mover is beside it';
comment on column css.gunner.untold is 'Whether the counter does not tell how far it fires';
comment on column css.gunner.spent is 'Whether its hex bears a No Opportunity Fire marker (8.6)';
comment on column css.gunner.sustains is 'Whether its hex may go on firing (8.6.1)';
comment on column css.gunner.alert is 'The roll of an alert Support Weapon in its hex (12.5)';

drop type if exists css.watch cascade;
create type css.watch as (
  gunner css.gunner,
  covered boolean,
  follows boolean,
  untold boolean,
  points text array
);

comment on type css.watch is
'An enemy who watches a leg.';
comment on column css.watch.covered is 'Whether the hex left is in its zone; follows: whether the hex entered is too';
comment on column css.watch.untold is 'Whether something that is not told would decide it';
comment on column css.watch.points is 'Contested points that the zone turns on';

create or replace function css._serves(weapon jsonb, gunner jsonb)
returns boolean
language sql immutable parallel safe
return (gunner ->> 'posture' is distinct from 'column' or coalesce(weapon ->> 'target' = 'tank', false))
and coalesce(weapon ->> 'formation' = gunner ->> 'formation', true);

comment on function css._serves(jsonb, jsonb) is
'Whether a unit may use a Support Weapon in its hex: Deployed, unless it is a tank, and of its Formation (12.3, 12.4.1).';

create or replace function css._gunners(mover css.mover, legs css.leg[])
returns setof css.gunner
language sql stable rows 10
as $$
  select
    armed.code,
    armed.q,
    armed.r,
    armed.in_cave,
    coalesce(armed.fire_side like 'indirect, %', false),
    armed.range,
    coalesce(armed.ready, armed.most),
    armed.ready is null,
    armed.suppressed,
    armed.concentrated,
    marked.spent,
    marked.sustaining or weapon.sustains,
    weapon.alert
  from css._armed(mover.position_id, null, null, mover.codes, mover.readings) as armed
  cross join lateral (
    select
      coalesce(bool_or(marker.kind = 'no_opportunity_fire'), false) as spent,
      coalesce(bool_or(marker.kind = 'sustained_fire'), false) as sustaining
    from public.marker
    where marker.position_id = mover.position_id
      and marker.q = armed.q
      and marker.r = armed.r
  ) as marked
  cross join lateral (
    select
      max((weapon.attributes ->> 'alert')::integer) as alert,
      coalesce(
        bool_or((weapon.attributes ->> 'sustained_fire')::boolean and css._serves(weapon.attributes, crew.attributes)),
        false
      ) as sustains
    from public.unit as weapon
    inner join public.unit as crew on crew.position_id = weapon.position_id and crew.code = armed.code
    where weapon.position_id = mover.position_id
      and weapon.q = armed.q
      and weapon.r = armed.r
      and weapon.kind = 'support_weapon'
      and weapon.side <> mover.side
      and coalesce((weapon.attributes ->> 'in_cave')::boolean, false) = armed.in_cave
  ) as weapon
  where armed.side <> mover.side
    and armed.q is not null
    and (armed.ready is null or armed.ready > 0 or armed.fire_side like 'indirect, column%')
    -- near enough to matter: nothing is seen farther than 8 (7.1.2)
    and exists (
      select
      from unnest(legs) as leg
      where least(
        lattice.distance(armed.q, armed.r, leg.q, leg.r), lattice.distance(armed.q, armed.r, leg.next_q, leg.next_r)
      ) <= case
        when armed.fire_side like 'indirect, %' then 8 else coalesce(armed.ready, armed.most)
      end
    )
$$;

comment on function css._gunners(css.mover, css.leg[]) is
'Enemies of a mover who are near enough to its way to watch some of it.';

create or replace function css._covers(
  mover css.mover, gunner css.gunner, reach integer, q integer, r integer, label text, inside boolean
)
returns table (covered boolean, points text[])
language plpgsql stable rows 1
as $$
declare
  away integer := lattice.distance(gunner.q, gunner.r, q, r);
begin
  points := '{}';
  if away = 0 or inside then
    -- 6.3: through the mouth of a cave it is one hex; who is inside is fired at from its own hex only
    covered := away = 0 and inside <> gunner.inside and reach > 0;
  elsif away is null or away > reach then
    covered := false;
  elsif away = 1 and not gunner.inside then
    covered := true;
  else
    select
      case when bool_or(los.effect = 'visible') then true when bool_or(los.effect = 'blocked') then false end,
      coalesce(array_agg(distinct los.point) filter (where los.point is not null), '{}')
    into covered, points
    from css.los(
      mover.position_id, 'unit:' || gunner.code, 'hex:' || _covers.label, mover.conditions, mover.policy
    ) as los;
  end if;
  return next;
end
$$;

comment on function css._covers(css.mover, css.gunner, integer, integer, integer, text, boolean) is
'Whether a hex is in the zone of a unit that fires so far (null: nobody can say), and the points this turns on.';

create or replace function css._watches(mover css.mover, leg css.leg, gunners css.gunner[])
returns setof css.watch
language plpgsql stable rows 4
as $$
declare
  watch css.watch;
  gunner css.gunner;
  here record;
  there record;
  away integer;
  reach integer;
begin
  foreach gunner in array gunners loop
    away := lattice.distance(gunner.q, gunner.r, leg.q, leg.r);
    reach := gunner.reach;
    -- 7.2: the mover itself is the adjacent enemy, once it is there
    if not mover.lands and away <= 1 then
      reach := least(1, reach);
    end if;
    select * into here from css._covers(mover, gunner, reach, leg.q, leg.r, leg.label, leg.inside);
    watch.gunner := gunner;
    watch.covered := here.covered is distinct from false;
    watch.follows := false;
    watch.untold := gunner.untold or here.covered is null;
    watch.points := here.points;
    if watch.covered then
      select * into there
      from css._covers(mover, gunner, reach, leg.next_q, leg.next_r, leg.next_label, leg.next_inside);
      watch.follows := there.covered;
      watch.points := watch.points || there.points;
    end if;
    if gunner.indirect and away <= greatest(1, gunner.range) then
      watch.points := watch.points || array['css-47'];
    end if;
    if watch.covered or watch.points <> '{}' then
      return next watch;
    end if;
  end loop;
end
$$;

comment on function css._watches(css.mover, css.leg, css.gunner[]) is
'Those of the enemies whose zone the hex left is in, or turns on a contested point.';

create or replace function css._screen(mover css.mover, leg css.leg)
returns text
language plpgsql stable
as $$
begin
  return (
    select
      case
        -- 24.2: an Ambush Unit is always Deployed
        when bool_or(friend.kind = 'ambush' or friend.attributes ->> 'posture' = 'deployed') then 'deployed'
        when bool_or(friend.attributes ->> 'posture' is null) then 'untold'
      end
    from public.unit as friend
    where friend.position_id = mover.position_id
      and friend.side = mover.side
      and friend.q = leg.q
      and friend.r = leg.r
      and css._is_unit(friend.kind)
      and friend.code <> all(mover.codes)
      and coalesce((friend.attributes ->> 'in_cave')::boolean, false) = leg.inside
  );
end
$$;

comment on function css._screen(css.mover, css.leg) is
'Whether units that stay behind in a hex screen those that leave it: deployed, untold, or null (8.6).';

create or replace function css._by_stealth(mover css.mover)
returns boolean
language sql immutable parallel safe
return mover.side = 'japan' and mover.conditions ->> 'time' = 'night';

comment on function css._by_stealth(css.mover) is
'Whether a unit infiltrates where no light is: Japanese, at night (6.1.3).';

create or replace function css._infiltrates(mover css.mover, leg css.leg)
returns boolean
language plpgsql stable
as $$
begin
  return css._by_stealth(mover) and not coalesce(
    (select css._spot(leg.q, leg.r) = any(mark.lit) from css._marked(mover.position_id) as mark), false
  );
end
$$;

comment on function css._infiltrates(css.mover, css.leg) is
'Whether a unit slips out of a hex at night: Japanese, and no light on the hex left (6.1.3, 8.6.2).';

create or replace function css._opportunity(
  watch css.watch, burrows boolean, screen text, infiltrates boolean, reading text
)
returns text
language sql immutable parallel safe
return case
  when burrows then 'burrows'
  when (watch.gunner).suppressed then 'suppressed'
  when (watch.gunner).concentrated then 'concentrated'
  when screen = 'deployed' and not watch.follows then 'screened'
  when infiltrates and reading = 'a' and watch.follows then 'infiltrates'
  when infiltrates and reading = 'b' and (watch.gunner).alert is null then 'infiltrates'
  when (watch.gunner).spent and (watch.gunner).alert is null then 'spent'
  when watch.untold or watch.follows is null and screen is not null or screen = 'untold' and not watch.follows
    then 'untold'
  when (watch.gunner).spent or (infiltrates and reading = 'b') then 'alert'
  else 'fires'
end;

comment on function css._opportunity(css.watch, boolean, text, boolean, text) is
'Whether an enemy whose zone is left may fire, in one word: fires, alert (on a roll), untold, or why not.';

create or replace function css._opportunity_steps(
  mover css.mover, leg css.leg, watch css.watch, word text, screen text, infiltrates boolean
)
returns setof rulings.move_step
language sql stable rows 1
as $$
  select
    said.rule,
    null,
    leg.label,
    said.effect,
    said.note,
    case
      when infiltrates then said.point
      when mover.lands and screen is not null then 'css-63'
    end,
    null::integer,
    null::integer,
    (watch.gunner).code
  from (
    values
    ('burrows', '6.3', 'no opportunity fire', 'from cave to cave nobody may fire at it', null),
    ('suppressed', '10.2.1', 'no opportunity fire', (watch.gunner).code || ' is Suppressed', null),
    ('concentrated', '8.3.6', 'no opportunity fire', (watch.gunner).code || ' has used Concentrated Fire', null),
    (
      'screened', '8.6', 'screened',
      case
        when mover.lands then 'a Deployed unit is on the beach already'
        else format('a Deployed unit stays in the hex, and the next is out of the zone of %s', (watch.gunner).code)
      end,
      null
    ),
    (
      'infiltrates', case mover.readings ->> 'css-42' when 'a' then '6.1.3' else '8.6.2' end, 'no opportunity fire',
      'at night a Japanese unit slips out of an unlit hex', 'css-42'
    ),
    (
      'spent', '8.6', 'no opportunity fire',
      format('the hex of %s has fired once and bears a No Opportunity Fire marker', (watch.gunner).code), 'css-42'
    ),
    (
      'untold', '8.6', 'unknown',
      case
        when watch.untold then format('whether the hex is in the zone of %s', (watch.gunner).code)
        else 'the posture of the units that stay, or whether the next hex is in the same zone'
      end,
      'css-42'
    ),
    (
      'alert', '12.5', 'roll',
      format(
        '%s may fire on a roll of %s or less: alert in spite of %s', (watch.gunner).code, (watch.gunner).alert,
        case when (watch.gunner).spent then 'its No Opportunity Fire marker' else 'the infiltration' end
      ),
      'css-42'
    ),
    (
      'fires', case when mover.lands then '22.3.2' else '8.6' end, 'opportunity fire',
      case
        when mover.lands then format('the beach is in the zone of %s', (watch.gunner).code)
        when watch.follows then format('from zone to zone of %s', (watch.gunner).code)
        else format('it leaves the zone of %s', (watch.gunner).code)
      end,
      'css-42'
    )
  ) as said (word, rule, effect, note, point)
  where said.word = _opportunity_steps.word
$$;

comment on function css._opportunity_steps(css.mover, css.leg, css.watch, text, text, boolean) is
'Whether an enemy whose zone is left may fire, and by which rule (6.1.3, 6.3, 8.3.6, 8.6, 8.6.2, 12.5, 22.3.2).';

create or replace function css._fire_gift_steps(
  mover css.mover, leg css.leg, watch css.watch, word text, infiltrates boolean
)
returns setof rulings.move_step
language sql stable rows 1
as $$
  select said.rule, null, leg.label, said.effect, said.note, null, null::integer, null::integer, (watch.gunner).code
  from (
    values
    (
      (watch.gunner).sustains, '8.6.1', 'sustained fire',
      format('the hex of %s may go on firing under a Sustained Fire marker', (watch.gunner).code)
    ),
    (
      css._by_stealth(mover) and not infiltrates, '8.6.2', 'lit',
      'an illuminated hex is left, where nobody infiltrates'
    ),
    (
      _fire_gift_steps.word = 'fires' and (watch.gunner).alert is not null, '12.5', 'alert',
      format('on a roll of %s or less the fire of %s has +2', (watch.gunner).alert, (watch.gunner).code)
    )
  ) as said (speaks, rule, effect, note)
  where said.speaks
    and _fire_gift_steps.word in ('fires', 'alert')
$$;

comment on function css._fire_gift_steps(css.mover, css.leg, css.watch, text, boolean) is
'What helps an enemy who may fire: sustained fire, light, an alert weapon (8.6.1, 8.6.2, 12.5).';

create or replace function css._contested_zone_steps(leg css.leg, watch css.watch)
returns setof rulings.move_step
language sql stable rows 1
as $$
  select distinct
    case touched.point when 'css-47' then '7.2' else '7.1' end,
    null,
    leg.label,
    'contested',
    case touched.point
      when 'css-47' then format('how far the indirect unit %s fires in Column', (watch.gunner).code)
      else format('whether %s sees the hex left and the next', (watch.gunner).code)
    end,
    touched.point,
    null::integer,
    null::integer,
    (watch.gunner).code
  from unnest(watch.points) as touched (point)
$$;

comment on function css._contested_zone_steps(css.leg, css.watch) is
'The contested points that an enemy''s zone turns on (7.1, 7.2).';

create or replace function css._op_fire_steps(mover css.mover, leg css.leg, gunners css.gunner[])
returns setof rulings.move_step
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
declare
  watches css.watch[];
  screen text;
  infiltrates boolean;
begin
  if mover.manner = 'advance' then
    return next row(
      '8.6', null, leg.label, 'no opportunity fire', 'an advance after an assault triggers none', null, null, null, null
    )::rulings.move_step;
    return;
  end if;
  watches := array(select watch from css._watches(mover, leg, gunners) as watch);
  if watches = '{}' then
    return;
  end if;
  screen := css._screen(mover, leg);
  infiltrates := css._infiltrates(mover, leg);
  return query
  select step.*
  from unnest(watches) as watch
  cross join lateral (
    select
      css._opportunity(
        watch,
        -- from a cave into the next
        leg.inside and leg.next_inside,
        -- css-63: whether those ashore screen who lands
        case when not mover.lands or mover.readings ->> 'css-63' = 'b' then screen end,
        infiltrates,
        mover.readings ->> 'css-42'
      ) as word
  ) as judged
  cross join lateral (
    select * from css._opportunity_steps(mover, leg, watch, judged.word, screen, infiltrates)
    where watch.covered
    union all
    select * from css._fire_gift_steps(mover, leg, watch, judged.word, infiltrates)
    where watch.covered
    union all
    select * from css._contested_zone_steps(leg, watch)
  ) as step
  order by step.by, step.rule, step.point, step.effect;
end
$$;

comment on function css._op_fire_steps(css.mover, css.leg, css.gunner[]) is
'What a leg triggers: who may fire at the mover, who may not and why, what is rolled for first.';
